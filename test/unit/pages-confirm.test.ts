import { describe, expect, it } from 'vitest';
import type { ConfirmPage } from '#lib/contracts/pages.ts';
import type { Drawn } from '../../services/forms/pages/page-model.ts';
import { renderer } from '../support/pages/page-renderer.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';
import { codeTime } from '../support/pages/sample-confirm-pages.ts';
import { samplePages } from '../support/pages/sample-pages.ts';
import { type SampleLanguage, sampleLanguages } from '../support/samples/sample-content.ts';

/** A page in the state of a sample. @param more overrides anything of the code. */
function confirm(name = 'confirm', more: Partial<ConfirmPage['code']> = {}, language: SampleLanguage = 'en') {
  const model = samplePages(language)[name] as Drawn<ConfirmPage>;
  const page = parsePage(renderer.render({ ...model, code: { ...model.code, ...more } }));
  const byId = (id: string) => page.elements.find(({ attribs }) => attribs.id === id);
  const alert = page.elements.find(({ attribs }) => attribs.role === 'alert');
  return {
    ...page,
    byId,
    field: byId('code')?.attribs,
    alert: alert && page.text(alert),
    alertLink: page.elements.find(({ name: tag, parent }) => tag === 'a' && parent?.parent === alert)?.attribs
      .href,
    forms: page.tagged('form').map(({ attribs }) => new URL(attribs.action ?? '').pathname),
    title: page.text(page.tagged('title')[0]),
    words: page.text(page.tagged('main')[0]).replaceAll(/\s+/g, ' '),
  };
}

describe('the page that asks for a code', () => {
  it('has one field, which takes codes from messages and pasted codes with spaces', () => {
    const { field, tagged } = confirm();
    expect(tagged('input')).toHaveLength(1);
    expect(field).toMatchObject({
      name: 'code',
      inputmode: 'numeric',
      autocomplete: 'one-time-code',
      dir: 'ltr',
    });
    expect(field).toHaveProperty('autofocus');
    const pattern = new RegExp(`^(?:${field?.pattern})$`, 'v');
    for (const code of ['123456', '123 456', ' 123-456 ', '١٢٣٤٥٦', '۱۲۳ ۴۵۶']) {
      expect(code).toMatch(pattern);
      expect(code.length).toBeLessThan(Number(field?.maxlength));
    }
    expect('12345a').not.toMatch(pattern);
  });

  it('describes its field by texts that exist', () => {
    for (const name of ['confirm', 'confirm-wrong', 'confirm-shown-wrong']) {
      const { field, byId } = confirm(name);
      const ids = field?.['aria-describedby']?.split(' ') ?? [];
      expect(ids.length).toBeGreaterThan(1);
      expect(ids.map((id) => byId(id)?.name)).toEqual(ids.map(() => 'p'));
    }
  });

  it.each([
    ['en', 'You have 5 attempts left. The code is valid until 3 May 2025 at 14:12 CEST.'],
    ['fr', 'Il vous reste 5 tentatives. Le code est valable jusqu’au 3 mai 2025 à 14:12 UTC+2.'],
    ['ar', 'بقيت لديك 5 محاولات. الرمز صالح حتى \u20683 مايو 2025 في 2:12 م غرينتش+2\u2069.'],
  ] as const)('says in %s how often and until when the code can be entered', (language, text) => {
    const { byId, text: textOf } = confirm('confirm', {}, language);
    expect(plainSpaces(textOf(byId('code-facts')))).toBe(text);
  });

  it.each([
    ['en', ['You have one attempt left.', 'You have 2 attempts left.']],
    ['fr', ['Il vous reste une tentative.', 'Il vous reste 2 tentatives.']],
    ['ar', ['بقيت لديك محاولة واحدة.', 'بقيت لديك محاولتان.']],
  ] as const)('counts attempts in %s as the language does', (language, texts) => {
    expect([1, 2].map((triesLeft) => confirm('confirm', { triesLeft }, language).words)).toEqual(
      texts.map((text) => expect.stringContaining(text)),
    );
  });

  it.each(sampleLanguages)('shows in %s the masked address from left to right', (language) => {
    for (const name of ['confirm', 'confirm-sms']) {
      const { destination } = (samplePages(language)[name] as ConfirmPage).code;
      const { elements, text, words } = confirm(name, {}, language);
      const isolated = elements.find((element) => element.name === 'bdi' && text(element) === destination);
      expect(isolated?.attribs.dir).toBe('ltr');
      expect(words).not.toContain('{');
    }
  });

  it('sends the code, another request and a cancellation from forms of their own', () => {
    expect(confirm().forms.map((path) => path.split('/').slice(3).join('/'))).toEqual([
      'confirm',
      'confirm/resend',
      'cancel',
    ]);
    expect(confirm('confirm-sms').forms).toHaveLength(2);
  });
});

describe('another code', () => {
  it('can be requested by a button that stays usable while the page asks to wait', () => {
    const page = confirm('confirm', { resendAfter: codeTime(30) });
    expect(page.words).toContain('You can request another code in 30 seconds.');
    expect(page.byId('resend')?.attribs).not.toHaveProperty('disabled');
    expect(confirm('confirm', { resendAfter: codeTime(570) }).words).toContain('in 10 minutes.');
    expect(confirm('confirm', { resendAfter: codeTime(0) }).words).toContain('You can request 2 more codes.');
  });

  it('is not offered if none is left', () => {
    const page = confirm('confirm-last');
    expect(page.byId('resend')).toBeUndefined();
    expect(page.words).toContain('No further code can be requested.');
    expect(page.field).toBeDefined();
  });

  it('is announced as a status', () => {
    const { elements, text } = confirm('confirm-resent');
    const status = elements.find(({ attribs }) => attribs.role === 'status');
    expect(text(status)).toBe('Another code is being sent. The earlier one no longer works.');
    expect(confirm().elements.some(({ attribs }) => attribs.role === 'status')).toBe(false);
  });
});

describe('a fault', () => {
  it.each([
    ['confirm-malformed', 'The code has six digits', '#code'],
    ['confirm-wrong', 'This code is not correct', '#code'],
    ['confirm-expired', 'This code is no longer valid', '#resend'],
    ['confirm-exhausted', 'This code was entered wrongly too often', '#resend'],
    ['confirm-early', 'It is too early for another code', undefined],
    ['confirm-limit', 'No further code can be sent at the moment', undefined],
  ])('%s is an alert, leads to the control that helps, and comes first in the title', (name, text, href) => {
    const { alert, alertLink, title, byId } = confirm(name);
    expect(alert).toContain(text);
    expect(alertLink).toBe(href);
    if (href) expect(byId(href.slice(1))).toBeDefined();
    expect(title).toBe('Error: Confirm your answers');
  });

  it('in the code marks the field and is part of its description; other faults leave it unmarked', () => {
    for (const name of ['confirm-malformed', 'confirm-wrong']) {
      const { field, byId, text } = confirm(name);
      expect(field).toMatchObject({ 'aria-invalid': 'true' });
      expect(field?.['aria-describedby']).toMatch(/^code-error /);
      expect(text(byId('code-error'))).toMatch(/^Error:/);
    }
    for (const name of ['confirm', 'confirm-early', 'confirm-limit'])
      expect(confirm(name).field).not.toHaveProperty('aria-invalid');
  });

  it('is not announced if there is none', () => {
    expect(confirm()).toMatchObject({ alert: undefined, title: 'Confirm your answers' });
  });
});

describe('a code that can no longer be entered', () => {
  it.each(['confirm-expired', 'confirm-exhausted'])('%s has no field: another code comes first', (name) => {
    const page = confirm(name);
    expect(page.field).toBeUndefined();
    expect(page.byId('resend')?.attribs.class).toBe('primary');
    expect(page.words).toContain('Request another code to confirm them.');
  });

  it('and is the last code has an explanation and a way to cancel', () => {
    const page = confirm('confirm-over');
    expect([page.field, page.byId('resend')]).toEqual([undefined, undefined]);
    expect(page.title).toBe('Your answers can no longer be confirmed');
    expect(page.forms).toHaveLength(1);
  });
});

describe('a code on the page', () => {
  it('is shown in two groups, and confirms the choice only', () => {
    const { words, byId } = confirm('confirm-shown');
    expect(words).toContain('048 213');
    expect(words).toContain('This confirms your choice, not who you are.');
    expect(byId('resend')?.attribs).toBeDefined();
  });

  it('is not shown any more once it cannot be entered', () => {
    expect(confirm('confirm-shown', { expires: codeTime(0) }).words).not.toContain('048');
    expect(confirm('confirm-shown', { triesLeft: 0 }).words).not.toContain('048');
  });
});

it('the page after the last code says why, and a rollback for another reason does not', () => {
  const text = (name: string) => parsePage(renderer.render(samplePages('en')[name] as never)).text();
  expect(text('rolledback-codes')).toContain('The last code had expired or was entered wrongly too often');
  expect(text('rolledback')).not.toContain('too often');
});
