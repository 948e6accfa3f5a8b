import { beforeAll, describe, expect, it } from 'vitest';
import { activateContent, type LiveModel, makeLiveModel } from '../support/instances/live-models.ts';
import type { LiveTransaction } from '../support/instances/live-transactions.ts';
import { recordsOf } from '../support/instances/live-transactions.ts';
import { expectRefusal, type Mode, modes, readPage } from './bad-input/refusals.ts';
import { type Answers, badInput } from './bad-input/session.ts';

const session = badInput();

const info = ['element/information/information.001/1.0'];
const letters = 'element/processing/processing.001/1.0';
const wishes = 'element/preference/preference.003/1.0';
const answers = (decision: string, text = 'By letter'): Answers => ({
  info,
  [letters]: [decision],
  [wishes]: [text],
});
const open = () =>
  session.open({ language: 'fr', layoutData: { elements: ['processing.001', 'preference.003'] } });
const success: Record<Mode, number> = { json: 200, html: 303 };

/** What is on record after everything: one answer to each question. */
async function recorded({ subject }: LiveTransaction): Promise<string[]> {
  const records = await recordsOf(session.operator, subject);
  expect(Object.values(records).map((list) => list.length)).toEqual([1, 1]);
  return ['processing.001', 'preference.003'].map((key) => records[key]?.[0]?.value ?? '');
}

describe.each(modes)('answers that come again (%s)', (mode) => {
  it('succeed again if they are the same, and are stored once', async () => {
    const made = await open();
    expect((await session.submit(made, mode, answers('accepted'))).status).toBe(success[mode]);
    await session.storingNothing(async () => {
      for (const again of modes)
        expect((await session.submit(made, again, answers('accepted'))).status).toBe(success[again]);
    });
    expect(await recorded(made)).toEqual(['accepted', 'By letter']);
  });

  it('are rejected if they differ or are not valid, and change nothing', async () => {
    const made = await open();
    await session.submit(made, mode, answers('accepted'));
    await session.storingNothing(async () => {
      const others = [
        answers('refused'),
        answers('accepted', 'Another text'),
        answers('perhaps'),
        { ...answers('accepted'), '<b>': ['x'] },
      ];
      for (const other of others)
        await expectRefusal(await session.submit(made, mode, other), mode, [409, 'wrong-state']);
    });
    expect(await recorded(made)).toEqual(['accepted', 'By letter']);
  });

  it('in parallel are stored once, and every sender gets the same success', async () => {
    const made = await open();
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => session.submit(made, mode, answers('accepted'))),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([success[mode]]));
    expect(await recorded(made)).toEqual(['accepted', 'By letter']);
  });

  it('in parallel that differ are stored for one sender; the others get a conflict', async () => {
    const made = await open();
    const texts = Array.from({ length: 12 }, (_, n) => `Wish ${n}`);
    const replies = await Promise.all(
      texts.map((text) => session.submit(made, mode, answers('accepted', text))),
    );
    const winners = texts.filter((_, n) => replies[n]?.status === success[mode]);
    expect(winners).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== success[mode]))
      await expectRefusal(reply, mode, [409, 'wrong-state']);
    expect(await recorded(made)).toEqual(['accepted', winners[0]]);
  });

  it('in parallel with a cancellation leave exactly one outcome', async () => {
    const made = await session.open({
      cancellable: true,
      layoutData: { elements: ['processing.001', 'preference.003'] },
    });
    const cancel = () =>
      session.instance.fetch(`/consents/${made.id}/cancel?t=${made.token}`, { method: 'POST' });
    const replies = await Promise.all([
      session.submit(made, mode, answers('accepted')),
      cancel(),
      session.submit(made, mode, answers('refused')),
      cancel(),
    ]);
    for (const { status } of replies) expect([200, 303, 409]).toContain(status);
    const { state } = (await (await session.operator.get(`/consents/${made.id}`)).json()) as {
      state: string;
    };
    const kept = Object.values(await recordsOf(session.operator, made.subject)).flat();
    expect(kept.length).toBe(state === 'COMMITTED' ? 2 : 0);
  });
});

describe('answers to questions that have changed', () => {
  let model: LiveModel;
  const content = (label: string) => ({ fr: { label, valueType: 'FREE_TEXT' } });
  beforeAll(async () => {
    model = await makeLiveModel(session.admin, 'preference', content('Couleur ?'));
  });

  it.each(modes)('are rejected with a link to the current form (%s); nothing is stored', async (mode) => {
    const serial =
      (await (await session.admin.get(`/models/${model.id}/versions/active`)).headers.get('location')) ?? '';
    const { serial: shown } = (await (await session.admin.get(serial)).json()) as { serial: string };
    const changed = `element/preference/${model.key}/${shown}`;
    const made = await session.open({
      language: 'fr',
      layoutData: { elements: [model.key, 'preference.003', 'processing.001'] },
    });
    await activateContent(session.admin, model, content('Quelle couleur ?'), 'MAJOR');
    const stale = { ...answers('accepted', 'Kept as it was'), [changed]: ['Bleu'] };
    const response = await session.storingNothing(() => session.submit(made, mode, stale));
    expect(response.status).toBe(409);
    if (mode === 'json') {
      const problem = (await response.json()) as {
        type: string;
        task: string;
        errors: { pointer: string }[];
      };
      expect(problem.type).toMatch(/\/stale-serial$/);
      expect(problem.errors.map(({ pointer }) => pointer)).toEqual([`/${changed.replaceAll('/', '~1')}`]);
      expect((await session.instance.fetch(problem.task)).status).toBe(200);
    } else {
      const page = await readPage(response);
      expect(page.tagged('textarea').map((box) => page.text(box).trim())).toEqual(['', 'Kept as it was']);
      const chosen = page.tagged('input').filter(({ attribs }) => 'checked' in attribs);
      expect(chosen.map(({ attribs }) => attribs.name)).toEqual([letters]);
    }
  });
});
