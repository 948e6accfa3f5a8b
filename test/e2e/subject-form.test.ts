import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { subjectSession } from '../support/pages/subject-session.ts';

const session = subjectSession();
const { question, button, press, heading, answers, statusAfter } = session;
/** In a browser without JavaScript, where everything has to work too. */
const open = (url: string) => session.open(url, { javaScriptEnabled: false });

const letter = 'The programme letter';
const study = 'A study of our audience';
const frequency = 'How often would you like to hear from us?';
const inline = (more: object) => ({
  layoutData: { type: 'layout', elements: ['processing.001', 'processing.002', 'preference.001'], ...more },
});

describe('one button for all questions', () => {
  it.each([
    ['Accept all', 'Accepted'],
    ['Refuse all', 'Refused'],
  ])('"%s" answers every question, and leaves preferences as they were filled in', async (name, answer) => {
    const { url } = await createTransaction(session.operator, inline({ acceptAllVisible: true }));
    await open(url);
    await question(frequency).getByLabel('Every week').check();
    await question(letter)
      .getByLabel(name === 'Accept all' ? 'Refuse' : 'Accept')
      .check();
    await press(name);
    await heading('Your answers are saved');
    expect(await answers()).toEqual([
      [letter, answer],
      [study, answer],
      [frequency, 'Every week'],
    ]);
  });

  it('refuses all and asks nothing more, where a preference is optional', async () => {
    const { url } = await createTransaction(session.operator, inline({ acceptAllVisible: true }));
    await open(url);
    await press('Refuse all');
    await heading('Your answers are saved');
    expect((await answers()).slice(0, 2)).toEqual([
      [letter, 'Refused'],
      [study, 'Refused'],
    ]);
  });

  it('has the same size and look whether it accepts or refuses, as each pair of answers has', async () => {
    const { url } = await createTransaction(session.operator, inline({ acceptAllVisible: true }));
    await open(url);
    const looks = (locator: ReturnType<typeof button>) => locator.evaluate(lookOf);
    expect(await looks(button('Accept all'))).toEqual(await looks(button('Refuse all')));
    const option = (name: string) => question(letter).locator('label', { hasText: name });
    expect(await looks(option('Accept'))).toEqual(await looks(option('Refuse')));
  });
});

describe('a form sent back', () => {
  it('keeps boxes empty that were emptied, whatever was answered before', async () => {
    const elements = ['preference.001', 'preference.002'];
    const { url } = await createTransaction(session.operator, inline({ elements }));
    await open(url);
    await question(frequency).getByLabel('Every week').check();
    await question('What do you like to see?').getByLabel('Dance').check();
    await press('Send my choices');
    await heading('Your answers are saved');
    await press('Change or withdraw my answers');
    const dance = question('What do you like to see?').getByLabel('Dance');
    expect(await dance.isChecked()).toBe(true);
    await dance.uncheck();
    await question(frequency).locator('input').first().evaluate(emptyValue);
    expect(await statusAfter('Send my choices')).toBe(422);
    expect(await dance.isChecked()).toBe(false);
  });
});

describe('a form without a mouse', () => {
  const keyboard = (key: string) => session.page.keyboard.press(key);

  /** Goes on with Tab until something has the focus, which must be visible at every stop. */
  async function tabTo(target: Locator): Promise<void> {
    for (let stops = 0; stops < 25; stops += 1) {
      await keyboard('Tab');
      expect(await session.page.locator(':focus').evaluate(hasOutline), 'the focus can be seen').toBe(true);
      if (await target.evaluate((element) => element.matches(':focus'))) return;
    }
    throw new Error('Tab never came there');
  }

  it('can be read, answered and sent, and its receipt opened', async () => {
    const { url } = await createTransaction(session.operator);
    await session.open(url);
    await tabTo(session.page.locator('details:not(.languages) > summary').first());
    await keyboard('Enter');
    expect(await session.page.getByText('8 Quai des Tisserands').isVisible()).toBe(true);
    await tabTo(question(letter).getByLabel('Accept'));
    await keyboard('Space');
    expect(await question(letter).getByLabel('Accept').isChecked()).toBe(true);
    await tabTo(question(study).getByLabel('Accept'));
    await keyboard('ArrowRight');
    expect(await question(study).getByLabel('Refuse').isChecked()).toBe(true);
    await tabTo(question(frequency).getByLabel('No answer'));
    await keyboard('ArrowDown');
    await keyboard('ArrowDown');
    await keyboard('ArrowDown');
    await tabTo(button('Save my choices'));
    await keyboard('Enter');
    await heading('Your answers are saved');
    expect(await answers()).toEqual([
      [letter, 'Accepted'],
      [study, 'Refused'],
      [frequency, 'When a new season opens'],
    ]);
    await tabTo(session.page.getByRole('link', { name: 'See the receipt' }));
    await keyboard('Enter');
    await heading('Consent receipt');
  });

  it('is sent with the Enter key, and leads on from its faults', async () => {
    const { url } = await createTransaction(session.operator);
    await session.open(url);
    await tabTo(question(letter).getByLabel('Accept'));
    await keyboard('Space');
    await keyboard('Enter');
    await question('One answer needs your attention').waitFor();
    await tabTo(session.page.getByRole('link', { name: study }));
    await keyboard('Enter');
    await keyboard('Space');
    expect(await question(study).getByLabel('Accept').isChecked()).toBe(true);
  });
});

/** What makes one choice weigh more than another. */
function lookOf(element: object): unknown {
  const node = element as {
    getBoundingClientRect(): { width: number; height: number };
    ownerDocument: { defaultView: { getComputedStyle(node: unknown): Record<string, string> } };
  };
  const { width, height } = node.getBoundingClientRect();
  const style = node.ownerDocument.defaultView.getComputedStyle(node);
  return { width, height, colour: style.color, background: style.backgroundColor, weight: style.fontWeight };
}

/** Makes an answer that is not offered, so that the form comes back. */
function emptyValue(element: object): void {
  (element as { value: string }).value = 'Never';
}

/** The element with the focus, or the label around it, is drawn with an outline. */
function hasOutline(element: object): boolean {
  const node = element as {
    closest(selector: string): object | null;
    ownerDocument: {
      defaultView: { getComputedStyle(node: object): { outlineStyle: string; outlineWidth: string } };
    };
  };
  return [node, node.closest('label') ?? node].some((drawn) => {
    const { outlineStyle, outlineWidth } = node.ownerDocument.defaultView.getComputedStyle(drawn);
    return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
  });
}
