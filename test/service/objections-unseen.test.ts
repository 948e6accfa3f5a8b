import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { choicesVisitor } from '../support/instances/choices-visitor.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { letter, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { type ClinicAndLab, own, startClinicAndLab } from '../support/peers/clinic-and-lab.ts';
import { until } from '../support/run/until.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const objection = {
  ...sampleContent.processing,
  title: 'Secondary use of records',
  legalBases: ['LEGAL_BASIS_LEGITIMATE_INTEREST'],
  choice: 'OBJECTION',
};
const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));
const use = useSetup(() => makeLiveModel(admin, 'processing', { en: objection }));
const nameOf = ({ key }: { key: string }) => `element/processing/${key}/1.0`;
const newest = async (caller: Caller, subject: string, key: string) =>
  (await recordsOf(caller, subject))[key]?.[0];

/** Sends a form as a browser does, with an empty box "I object" unless told otherwise. */
async function post(made: { id: string; token: string }, more: Record<string, string[]> = {}) {
  const shown = { 'accord-shown': [letter, nameOf(use)], [letter]: ['accepted'], ...more };
  expect((await subjectOf(instance, made).submitForm(shown)).status).toBe(303);
}

const silently = (subject: string) =>
  createTransaction(shop, {
    subject,
    silent: true,
    attributes: { visit: randomUUID() },
    layoutData: { elements: ['processing.001', use.key], acceptAllVisible: true },
  });

describe('an empty box on a form that shows no earlier answers', () => {
  it('takes no objection back, with "accept all" neither', async () => {
    await recordAnswers(shop, 'ann', { [nameOf(use)]: ['refused'] });
    await post(await silently('ann'));
    expect(await newest(shop, 'ann', use.key)).toMatchObject({ value: 'refused', status: 'VALID' });
    expect(await newest(shop, 'ann', 'processing.001')).toMatchObject({ value: 'accepted' });
    await post(await silently('ann'), { 'accord-action': ['accept-all'] });
    expect(await newest(shop, 'ann', use.key)).toMatchObject({ value: 'refused', status: 'VALID' });
  });

  it('says that there is no objection of who has none, and a ticked one that there is', async () => {
    await post(await silently('bob'));
    expect(await newest(shop, 'bob', use.key)).toMatchObject({ value: 'accepted', status: 'VALID' });
    await post(await silently('bob'), { [nameOf(use)]: ['refused'] });
    expect(await newest(shop, 'bob', use.key)).toMatchObject({ value: 'refused', status: 'VALID' });
  });

  it('is no answer of a program, which takes the objection back by saying so', async () => {
    await recordAnswers(shop, 'cid', { [nameOf(use)]: ['refused'] });
    const explicit = { [letter]: ['accepted'], [nameOf(use)]: ['accepted'] };
    expect((await subjectOf(instance, await silently('cid')).submit(explicit)).status).toBe(200);
    expect(await newest(shop, 'cid', use.key)).toMatchObject({ value: 'accepted', status: 'VALID' });
  });

  it('is not offered in my choices for an objection, which is taken back where it is seen', async () => {
    await recordAnswers(shop, 'dan', { [nameOf(use)]: ['refused'] }, { validity: 'P1Y' });
    const { url } = (await (await shop.send('POST', '/choices', { subject: 'dan' })).json()) as {
      url: string;
    };
    const page = await (await choicesVisitor(instance).get(url)).text();
    expect(page).toContain('Change');
    expect(page).not.toContain('name="renew"');
  });
});

describe('an empty box for a question of a peer, whose earlier answers only the peer knows', () => {
  let world: ClinicAndLab;
  beforeAll(async () => {
    world = await startClinicAndLab();
  }, 60_000);
  afterAll(() => world?.stop());

  it('takes no objection back there', async () => {
    const { clinic, clinicAdmin, lab, labAdmin } = world;
    const made = await makeLiveModel(labAdmin, 'processing', { en: objection });
    expect((await labAdmin.send('PUT', `/models/${made.id}`, { name: 'Use', shared: true })).ok).toBe(true);
    const theirs = `${made.key}@${new URL(lab.url).host}`;
    const labShop = await createKey(lab);
    const ask = (subject: string) =>
      until(() =>
        createTransaction(clinicAdmin, {
          subject,
          attributes: { visit: randomUUID() },
          layoutData: { elements: ['processing.001', theirs] },
        }),
      );
    const asked = `element/processing/${theirs}/1.0`;
    const answer = async (subject: string, answers: Record<string, string[]>) => {
      const begun = await ask(subject);
      const fields = { 'accord-shown': [own, asked], [own]: ['accepted'], ...answers };
      expect((await subjectOf(clinic, begun).submitForm(fields)).status).toBe(303);
      await world.delivered(begun);
    };
    await answer('eve', {});
    expect(await newest(labShop, 'eve', made.key)).toMatchObject({ value: 'accepted', status: 'VALID' });
    await answer('eve', { [asked]: ['refused'] });
    expect(await newest(labShop, 'eve', made.key)).toMatchObject({ value: 'refused', status: 'VALID' });
    await answer('eve', {});
    expect(await newest(labShop, 'eve', made.key)).toMatchObject({ value: 'refused', status: 'VALID' });
    const byProgram = await ask('eve');
    expect((await subjectOf(clinic, byProgram).submit({ [own]: ['accepted'] })).status).toBe(200);
    await world.delivered(byProgram);
    expect(await newest(labShop, 'eve', made.key)).toMatchObject({ value: 'refused', status: 'VALID' });
  }, 60_000);
});
