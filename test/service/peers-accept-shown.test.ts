import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { problemOf, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';
import { type OwnerInstance, startOwner } from '../support/instances/owner-instance.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { type OwnPeer, startOwnPeer } from '../support/peers/peer-of-our-own.ts';
import { makePart, newPeer, type Part, type PartChanges } from '../support/peers/peer-parts.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Transaction = components['schemas']['Transaction'];

const letter = 'element/processing/processing.001/1.0';
const often = 'element/preference/preference.001/1.0';

let lab: OwnerInstance;
beforeAll(async () => {
  lab = await startOwner();
  for (const key of ['processing.001', 'preference.001']) await lab.share(key);
}, 60_000);
afterAll(() => lab?.stop());

/** A part that was taken, and its transaction as an administrator sees it. */
async function accepted(changes: PartChanges = {}): Promise<{ part: Part; made: Transaction }> {
  const part = await makePart(lab, changes);
  const { id, verdict } = await lab.one.acceptSubmission(part);
  expect(verdict).toMatch(/committed|held/);
  return { part, made: (await (await lab.admin.get(`/consents/${id}`)).json()) as Transaction };
}
const page = async (path: string) => {
  const response = await lab.admin.get(path, { Accept: 'text/html' });
  expect(response.status).toBe(200);
  return parsePage(await response.text());
};

describe('the subject of a part', () => {
  it("is the peer's name for it, after the prefix that an administrator set", async () => {
    const peer = newPeer({ subjectPrefix: 'st-mary/' });
    const { part, made } = await accepted({ peer, submission: { subject: ' Jose\u0301 ' } });
    expect(made.subject).toBe('st-mary/José');
    expect(await recordsOf(lab.admin, 'st-mary/José')).toHaveProperty('processing.001');
    expect((await (await lab.admin.get('/subjects/st-mary%2FJosé')).json()) as object).toMatchObject({
      name: 'st-mary/José',
    });
    expect(part.submission.subject).toBe(' Jose\u0301 ');
  });

  it('sees, when signed in here, the answers and the instance that showed the form', async () => {
    const user = await signIn(lab, 'user');
    const { part, made } = await accepted({ submission: { subject: 'user' } });
    expect((await recordsOf(user, 'user'))['processing.001']).toMatchObject([
      { transaction: made.id, leader: part.submission.leader, origin: 'PEER' },
    ]);
    expect(await (await user.get(`/consents/${made.id}`)).json()).toMatchObject({
      leader: part.submission.leader,
    });
  });
});

describe('a transaction from a peer', () => {
  it('is in lists, extractions and tables like any other, and names the instance that showed its form', async () => {
    const { part, made } = await accepted();
    const { leader, subject } = part.submission;
    const query = `subject=${encodeURIComponent(subject)}`;
    expect(await (await lab.admin.get(`/transactions?${query}`)).json()).toMatchObject({
      values: [{ id: made.id, leader }],
    });
    expect(await (await lab.admin.send('POST', '/transactions', { subject })).json()).toMatchObject({
      values: [{ id: made.id, leader }],
    });
    const condition = { condition: { key: 'processing.001', value: 'accepted' } };
    const extracted = await (await lab.admin.send('POST', '/records/extraction?limit=200', condition)).json();
    expect(extracted).toMatchObject({
      values: expect.arrayContaining([
        expect.objectContaining({
          subjectName: subject,
          record: expect.objectContaining({ leader, transaction: made.id }),
        }),
      ]),
    });
    const csv = await (
      await lab.admin.send('POST', '/records/extraction?limit=200', condition, { Accept: 'text/csv' })
    ).text();
    const [header, ...rows] = csv.split('\r\n');
    expect(header).toMatch(/,transaction,leaderLocation,leaderId$/);
    expect(rows.find((row) => row.startsWith(subject))).toMatch(
      new RegExp(`,PEER,Hospital,${made.id},${leader.location},${leader.id}$`),
    );
  });

  it('has no leader if the form was shown here', async () => {
    const own = await createTransaction(lab.admin);
    expect(await (await lab.admin.get(`/consents/${own.id}`)).json()).not.toHaveProperty('leader');
  });

  it('has the page of a committed one, and cannot be cancelled or answered again', async () => {
    const { made } = await accepted({ answers: { [letter]: ['accepted'], [often]: ['Once a month'] } });
    const shown = await page(`/consents/${made.id}`);
    expect(shown.text()).toContain('Once a month');
    expect(shown.text()).toContain('The form was shown by Hospital.');
    expect((await lab.admin.send('POST', `/consents/${made.id}/cancel`)).status).toBe(409);
    const again = await subjectOf(lab, made).submit({ [letter]: ['accepted'], [often]: ['Once a month'] });
    expect((await problemOf(again)).said).toBe('409 wrong-state');
    expect((await lab.admin.get(`/consents/${made.id}/submit`)).status).toBe(409);
  });

  it('can be changed here: a child asks the same questions, and its answers take their place', async () => {
    const { part, made } = await accepted({ answers: { [letter]: ['accepted'], [often]: ['Once a month'] } });
    const child = await transactionIn(lab.admin.send('POST', `/consents/${made.id}/child`));
    expect(child).toMatchObject({
      parent: made.id,
      subject: made.subject,
      state: 'CREATED',
      context: { origin: 'WEBFORM' },
    });
    expect(child).not.toHaveProperty('leader');
    const subject = subjectOf(lab, child);
    const form = await subject.form();
    expect(form.info.identifier).toBe('element/information/information.001/1.0');
    expect(form.elements.map(({ identifier, previous }) => [identifier, previous?.answers])).toEqual([
      [often, ['Once a month']],
      [letter, ['accepted']],
    ]);
    expect((await subject.submit({ [letter]: ['refused'], [often]: ['Every week'] })).status).toBe(200);
    expect((await recordsOf(lab.admin, part.submission.subject))['processing.001']).toMatchObject([
      { value: 'refused', status: 'VALID', origin: 'WEBFORM', transaction: child.id },
      { value: 'accepted', status: 'OBSOLETE', origin: 'PEER', transaction: made.id },
    ]);
    // A part that the peer sends later is newer again.
    await accepted({ submission: { subject: part.submission.subject } });
    expect((await recordsOf(lab.admin, part.submission.subject))['processing.001']?.[0]).toMatchObject({
      value: 'accepted',
      status: 'VALID',
      origin: 'PEER',
    });
  });

  it('is not returned for an equal context here', async () => {
    const { part, made } = await accepted();
    const own = await createTransaction(lab.admin, {
      subject: part.submission.subject,
      language: 'en',
      layoutData: { elements: ['processing.001'], info: 'information.001' },
    });
    expect(own.id).not.toBe(made.id);
  });

  it('cannot be created by any other caller', async () => {
    const context = { subject: 'ann', layout: 'layout.001', origin: 'PEER' };
    expect((await problemOf(await lab.admin.send('POST', '/consents', context))).said).toBe('422 invalid');
    const led = await createTransaction(lab.admin, { leader: { location: 'https://a.example', id: 'x' } });
    expect(led).not.toHaveProperty('leader');
  });
});

describe('the page of a transaction from a peer', () => {
  it.each([
    ['en', 'They were given at Hospital', 'because Hospital did not confirm them'],
    ['fr', 'Vous les avez données auprès de Hospital', 'car Hospital ne les a pas confirmées'],
    ['ar', 'تم تقديمها لدى', 'لعدم تأكيدها من'],
  ])('says in %s which decision it waits for, and the result', async (language, waits, over) => {
    const changes = { content: { language }, submission: { language, mode: 'hold' } } as const;
    const { part, made } = await accepted(changes);
    expect((await page(`/consents/${made.id}`)).text()).toContain(waits);
    expect((await page(`/consents/${made.id}`)).tagged('form')).toEqual([]);
    await lab.one.decideSubmission({ ...part, decision: 'rollback' });
    expect((await page(`/consents/${made.id}`)).text()).toContain(over);
  });
});

describe('a receipt of answers that a peer collected', () => {
  it.each([
    ['en', 'Form shown by'],
    ['fr', 'Formulaire présenté par'],
    ['ar', 'الجهة التي عرضت النموذج'],
  ])('says in %s who showed the form', async (language, words) => {
    const { part, made } = await accepted({
      peer: newPeer({ name: 'St. Mary Hospital' }),
      content: { language },
      submission: { language },
    });
    const shown = await page(`/receipts/${made.id}`);
    for (const text of [
      words,
      'St. Mary Hospital',
      part.submission.leader.location,
      part.submission.leader.id,
    ])
      expect(shown.text()).toContain(text);
    expect(shown.tagged('html')[0]?.attribs.lang).toBe(language);
  });

  it('has the texts in the language in which they were shown, which need not be one of ours', async () => {
    const element = await makeLiveModel(lab.admin, 'processing', {
      fr: { ...sampleContent.processing, title: 'Une lettre' },
      en: sampleContent.processing,
    });
    await lab.share(element.key);
    const { made } = await accepted({
      answers: { [`element/processing/${element.key}/1.0`]: ['accepted'] },
      content: { language: 'pl' },
      submission: { language: 'pl' },
    });
    expect(await (await lab.admin.get(`/receipts/${made.id}`)).json()).toMatchObject({
      language: 'pl',
      consents: [{ lang: 'fr', texts: { title: 'Une lettre' } }],
    });
    expect((await page(`/receipts/${made.id}`)).text()).toContain('Une lettre');
  });

  it('does not exist before the answers are in force', async () => {
    const { made } = await accepted({ submission: { mode: 'hold' } });
    expect((await lab.admin.get(`/receipts/${made.id}`)).status).toBe(404);
  });
});

describe('the instance that showed the form', () => {
  let hospital: OwnPeer;
  beforeAll(async () => {
    hospital = await startOwnPeer();
    const pairing = { pairing: randomUUID(), apiKey: (await createKey(lab, 'partner', 'PEER')).key };
    const description = await hospital.describe();
    const paired = await hospital.send(lab.url, 'POST', '/federation/pairing', { ...pairing, description });
    expect(paired.status).toBe(200);
  });
  afterAll(() => hospital?.close());

  it('learns only the verdict on its part', async () => {
    const peer = newPeer({ url: hospital.url });
    const part = await makePart(lab, { peer });
    const handed = await hospital.send(
      lab.url,
      'PUT',
      `/federation/submissions/${part.sid}`,
      part.submission,
    );
    expect(handed.status).toBe(200);
    const subject = encodeURIComponent(part.submission.subject);
    const { values } = (await (await lab.admin.get(`/transactions?subject=${subject}`)).json()) as {
      values: Transaction[];
    };
    const id = values[0]?.id;
    expect(values).toMatchObject([{ state: 'COMMITTED', leader: part.submission.leader }]);
    for (const path of [
      ...[`/consents/${id}`, `/consents/${id}/submit`, `/consents/${id}/context`, `/consents/${id}/child`],
      ...[
        `/receipts/${id}`,
        `/transactions?subject=${subject}`,
        `/records?subject=${subject}`,
        `/subjects/${subject}`,
      ],
    ]) {
      const refused = await hospital.send(lab.url, 'GET', path);
      expect([path, refused.status]).toEqual([path, 401]);
    }
    for (const path of [`/consents/${id}/cancel`, `/consents/${id}/child`])
      expect((await hospital.send(lab.url, 'POST', path)).status).toBe(401);
  });
});
