import { DomUtils } from 'htmlparser2';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { eventsOf, historyOf, keepEvents } from '../support/instances/live-events.ts';
import { activateContent, makeLiveModel, withdrawModel } from '../support/instances/live-models.ts';
import {
  complete,
  letter,
  often,
  problemOf,
  type Representation,
  study,
  subjectOf,
  transactionIn,
} from '../support/instances/live-subject.ts';
import {
  createTransaction,
  recordAnswers,
  recordsOf,
  submitForCode,
} from '../support/instances/live-transactions.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { until } from '../support/run/until.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));
beforeAll(() => keepEvents(instance));

const both = { ...complete, [letter]: ['accepted'], [study]: ['accepted'] };

interface Receipt {
  receiptId: string;
  kind?: string;
  information: object;
  consents: {
    identifier: string;
    answer: string[];
    texts: object;
    withdraws?: { record: string; receiptId: string; given: string };
    withdrawn?: string;
  }[];
  collectionMethod: string;
  updateUrl: string;
}

/** A subject who has accepted both processings. */
async function consented(context: Record<string, unknown> = {}, answers: Record<string, string[]> = both) {
  const made = await createTransaction(shop, context);
  const as = subjectOf(instance, made);
  expect((await as.submit(answers)).status).toBe(200);
  const { updateUrl } = await receiptOf(made);
  return { made, as, subject: made.subject, receiptToken: new URL(updateUrl).searchParams.get('t') ?? '' };
}

const receiptOf = async ({ id }: { id: string }) =>
  (await (await shop.get(`/receipts/${id}`)).json()) as Receipt;

/** Withdraws with the transaction's token, as JSON. */
const withdraw = ({ id, token }: { id: string; token: string }, body?: object) =>
  instance.fetch(`/consents/${id}/withdraw?t=${encodeURIComponent(token)}`, {
    method: 'POST',
    headers: { Accept: 'application/json', ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });

const newestOf = async (subject: string, key: string) =>
  (await recordsOf(shop, subject))[key]?.find(({ state }) => state === 'COMMITTED');

const decisionOf = async (subject: string, element: string) =>
  (
    (await (await shop.send('POST', '/decisions', { subject, questions: [{ element }] })).json()) as {
      decisions: { allowed: boolean; reason: string }[];
    }
  ).decisions[0];

describe('a withdrawal', () => {
  it('refuses all that was accepted, in a transaction of its own with a signed receipt', async () => {
    const { made, subject } = await consented({ object: 'account 7', attributes: { campaign: 'spring' } });
    const given = await receiptOf(made);
    const answer = await withdraw(made);
    expect(answer.status).toBe(201);
    const withdrawal = await transactionIn(answer);
    expect(answer.headers.get('location')).toBe(withdrawal.links.subject);
    expect(withdrawal).toMatchObject({ state: 'COMMITTED', kind: 'WITHDRAWAL', parent: made.id, subject });
    const all = Object.values(await recordsOf(shop, subject)).flat();
    const records = Object.fromEntries(
      ['processing.001', 'processing.002', 'preference.001'].map((key) => [
        key,
        all.filter(({ bodyKey }) => bodyKey === key),
      ]),
    );
    for (const key of ['processing.001', 'processing.002']) {
      const [refused, accepted] = records[key] ?? [];
      expect(refused).toMatchObject({
        value: 'refused',
        status: 'VALID',
        object: 'account 7',
        origin: 'WEBFORM',
        author: subject,
        transaction: withdrawal.id,
        withdraws: accepted?.serial,
        bodySerial: accepted?.bodySerial,
      });
      expect(refused?.expirationTimestamp).toBeUndefined();
      expect(accepted).toMatchObject({ value: 'accepted', status: 'OBSOLETE' });
    }
    expect(records['preference.001']).toHaveLength(1);
    const receipt = await receiptOf(withdrawal);
    expect(receipt).toMatchObject({ kind: 'WITHDRAWAL', information: given.information });
    expect(receipt.consents.map(({ texts }) => texts)).toEqual(
      given.consents.slice(0, 2).map(({ texts }) => texts),
    );
    expect(receipt.consents.map(({ withdraws }) => withdraws)).toEqual(
      ['processing.001', 'processing.002'].map((key) => ({
        record: records[key]?.[1]?.serial,
        receiptId: given.receiptId,
        given: new Date(records[key]?.[1]?.creationTimestamp ?? 0).toISOString(),
      })),
    );
    const { jwks } = (await (await instance.fetch('/.well-known/accord')).json()) as { jwks: JSONWebKeySet };
    const jws = await (await shop.get(`/receipts/${withdrawal.id}?format=jose`)).text();
    const verified = await compactVerify(jws, createLocalJWKSet(jwks));
    expect(JSON.parse(new TextDecoder().decode(verified.payload))).toEqual(receipt);
  });

  it('withdraws only what is named, by identifier or key, and keeps a comment', async () => {
    const { made, subject } = await consented();
    const first = await transactionIn(withdraw(made, { elements: [letter], comment: 'Too many letters' }));
    expect((await newestOf(subject, 'processing.001'))?.comment).toBe('Too many letters');
    expect(await newestOf(subject, 'processing.002')).toMatchObject({ value: 'accepted' });
    const second = await transactionIn(withdraw(made, { elements: 'processing.002' }));
    expect(second.id).not.toBe(first.id);
    expect(await newestOf(subject, 'processing.002')).toMatchObject({ value: 'refused' });
  });

  it('reaches answers that were given later and elsewhere', async () => {
    const { made, subject } = await consented({}, { ...both, [letter]: ['refused'] });
    const later = await recordAnswers(shop, subject, { [letter]: ['accepted'] });
    const { id } = await transactionIn(withdraw(made, { elements: [letter] }));
    const receipt = await receiptOf({ id });
    expect(receipt.consents[0]?.withdraws?.receiptId).toBe((await receiptOf(later)).receiptId);
    expect(await newestOf(subject, 'processing.001')).toMatchObject({ value: 'refused', transaction: id });
  });

  it('of a notice that rests on consent is not undone by sending a form that shows the notice again', async () => {
    const legalBases = ['LEGAL_BASIS_CONSENT'];
    const notice = await makeLiveModel(admin, 'processing', {
      en: { ...sampleContent.processing, legalBases, refusable: false },
    });
    const subject = `notice-${crypto.randomUUID()}`;
    const layoutData = { elements: [notice.key, 'processing.001'] };
    const first = await recordAnswers(shop, subject, { [letter]: ['accepted'] }, { layoutData });
    const identifier = `element/processing/${notice.key}/1.0`;
    expect((await transactionIn(withdraw(first, { elements: [identifier] }))).state).toBe('COMMITTED');
    await recordAnswers(shop, subject, { [letter]: ['refused'] }, { layoutData });
    expect(await decisionOf(subject, notice.key)).toMatchObject({ allowed: false, reason: 'WITHDRAWN' });
    const context = { subject, layoutData, attributes: { visit: 'second' } };
    const opened = subjectOf(instance, await createTransaction(shop, context));
    expect((await opened.submit({ [letter]: ['accepted'] })).status).toBe(200);
    expect(await decisionOf(subject, notice.key)).toMatchObject({ allowed: false, reason: 'WITHDRAWN' });
  });

  it('is offered only where the texts of the newest answer can be withdrawn', async () => {
    const { en } = { en: { ...sampleContent.processing, legalBases: ['LEGAL_BASIS_CONTRACT'] } };
    const element = await makeLiveModel(admin, 'processing', { en });
    const subject = `texts-${crypto.randomUUID()}`;
    const layoutData = { elements: [element.key, 'processing.001'] };
    const answers = (serial: string) => ({
      [letter]: ['accepted'],
      ...(serial === '1.0' && { [`element/processing/${element.key}/${serial}`]: ['accepted'] }),
    });
    const first = await recordAnswers(shop, subject, answers('1.0'), { layoutData });
    await activateContent(admin, element, { en: { ...en, refusable: false } }, 'MAJOR');
    await recordAnswers(shop, subject, answers('2.0'), { layoutData });
    const page = parsePage(await (await shop.get(`/consents/${first.id}`, { Accept: 'text/html' })).text());
    const offered = page
      .tagged('input')
      .flatMap(({ attribs }) => (attribs.name === 'elements' ? [attribs.value] : []));
    expect(offered.filter((value) => value?.includes(element.key))).toEqual([]);
    expect((await withdraw(first)).status).toBe(201);
  });

  it('ends with a child that gives the consent again, and can be made again then', async () => {
    const { made, subject } = await consented();
    const withdrawal = await transactionIn(withdraw(made, { elements: [letter] }));
    const child = await transactionIn(subjectOf(instance, withdrawal).post('/child'));
    const again = subjectOf(instance, child);
    expect((await again.form()).elements.map(({ identifier }) => identifier)).toEqual([letter]);
    expect((await again.submit({ [letter]: ['accepted'] })).status).toBe(200);
    expect(await decisionOf(subject, 'processing.001')).toMatchObject({ allowed: true });
    const page = await shop.get(`/consents/${withdrawal.id}`, { Accept: 'text/html' });
    expect(parsePage(await page.text()).text()).toContain('You have consented again since then');
    expect((await withdraw(withdrawal)).status).toBe(201);
    expect(await decisionOf(subject, 'processing.001')).toMatchObject({ reason: 'WITHDRAWN' });
  });

  it('ends only with the code that was needed to give the consent', async () => {
    const { code, ...made } = await submitForCode(shop, {}, both);
    expect((await shop.send('POST', `/consents/${made.id}/confirm`, { code })).status).toBe(200);
    const withdrawal = await transactionIn(withdraw(made, { elements: [letter] }));
    expect(withdrawal.state).toBe('COMMITTED');
    const child = await transactionIn(subjectOf(instance, withdrawal).post('/child'));
    const given = await transactionIn(subjectOf(instance, child).submit({ [letter]: ['accepted'] }));
    expect(given.state).toBe('SUBMITTED');
    expect(await decisionOf(made.subject, 'processing.001')).toMatchObject({ reason: 'WITHDRAWN' });
  });

  it('writes its history and one event with the consents that have ended', async () => {
    const { made, subject } = await consented();
    const accepted = await recordsOf(shop, subject);
    const withdrawal = await transactionIn(withdraw(made));
    expect((await historyOf(instance, withdrawal)).map(({ state }) => state)).toEqual([
      'CREATED',
      'COMMITTED',
    ]);
    const events = await eventsOf(instance, withdrawal);
    const names = events.map(({ event }) => event.type.replace(/^io\.accord\.|\.v1$/g, ''));
    expect(names.sort()).toEqual(['consent.committed', 'consent.created', 'consent.withdrawn']);
    const withdrawn = events.find(({ event }) => event.type.includes('withdrawn'));
    expect(withdrawn?.event.data).toEqual({
      transaction: withdrawal.id,
      state: 'COMMITTED',
      version: 2,
      withdraws: ['processing.001', 'processing.002'].map((element) => ({
        record: accepted[element]?.[0]?.serial,
        element,
      })),
    });
  });

  it('is returned again to the same request, also to ten at once', async () => {
    const { made, subject } = await consented();
    const answers = await Promise.all(Array.from({ length: 10 }, () => withdraw(made)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
    const ids = await Promise.all(answers.map(async (answer) => (await transactionIn(answer)).id));
    expect(new Set(ids).size).toBe(1);
    expect((await recordsOf(shop, subject))['processing.001']).toHaveLength(2);
    expect((await transactionIn(withdraw(made, { elements: [study] }))).id).toBe(ids[0]);
  });

  it('opens from an expired consent and an older major version', async () => {
    const content = { defaultLanguage: 'en', data: { en: sampleContent.processing } };
    const model = await makeLiveModel(admin, 'processing', content.data);
    const identifier = `element/processing/${model.key}/1.0`;
    const subject = 'expired and changed';
    const made = await recordAnswers(shop, subject, { [identifier]: ['accepted'] }, { validity: 'P1D' });
    await activateContent(admin, model, {
      en: { ...sampleContent.processing, usage: 'Something else altogether' },
    });
    await letTimePass(instance, '2 days');
    const answer = await shop.send('POST', `/consents/${made.id}/withdraw`);
    await letTimePass(instance, '0 days');
    expect(answer.status).toBe(201);
    expect(await newestOf(subject, model.key)).toMatchObject({ value: 'refused', bodySerial: '1.0' });
  });

  it('ends the consent to an element that is archived, and to one that cannot be refused but rests on consent', async () => {
    const bound = { ...sampleContent.processing, refusable: false, legalBases: ['LEGAL_BASIS_CONSENT'] };
    for (const content of [sampleContent.processing, bound]) {
      const model = await makeLiveModel(admin, 'processing', { en: content });
      const answers = { [`element/processing/${model.key}/1.0`]: ['accepted'] };
      const made = await recordAnswers(shop, `accepted ${model.key}`, answers);
      await withdrawModel(admin, model);
      expect((await shop.send('POST', `/consents/${made.id}/withdraw`)).status).toBe(201);
      expect(await newestOf(made.subject, model.key)).toMatchObject({ value: 'refused', bodySerial: '1.0' });
    }
  });

  it('ends conditions only if they are named', async () => {
    const terms = await makeLiveModel(admin, 'conditions', { en: sampleContent.conditions });
    const answers = { [`element/conditions/${terms.key}/1.0`]: ['accepted'] };
    const { id, subject } = await recordAnswers(shop, 'accepted terms', answers);
    for (const [path, body] of [
      [`/consents/${id}/withdraw`, {}],
      ['/choices/withdraw', { subject }],
    ] as const)
      expect((await problemOf(await shop.send('POST', path, body))).said).toBe('409 nothing-to-withdraw');
    const named = await shop.send('POST', `/consents/${id}/withdraw`, { elements: [terms.key] });
    expect(named.status).toBe(201);
    expect(await newestOf(subject, terms.key)).toMatchObject({ value: 'refused' });
  });
});

describe('who may withdraw', () => {
  it('the subject with a receipt, whose records say so', async () => {
    const { made, subject, receiptToken } = await consented();
    const answer = await withdraw({ id: made.id, token: receiptToken });
    expect(answer.status).toBe(201);
    expect((await newestOf(subject, 'processing.001'))?.origin).toBe('RECEIPT');
    // The token of the withdrawal allows no more than that of the receipt.
    const { token, id } = await transactionIn(answer);
    expect((await withdraw({ id, token })).status).toBe(200);
    expect((await problemOf(await subjectOf(instance, { id, token }).get('/submit'))).said).toMatch(/^403 /);
  });

  it('an operator and an API key for anybody, with a line in the audit log', async () => {
    for (const caller of [operator, shop]) {
      const { made, subject } = await consented();
      const { id } = await transactionIn(caller.send('POST', `/consents/${made.id}/withdraw`));
      expect(await newestOf(subject, 'processing.001')).toMatchObject({ origin: 'OPERATOR' });
      const lines = (await (
        await admin.get(`/audit/consents?target=transaction/${id}&action=consent.withdrawn`)
      ).json()) as {
        values: { action: string }[];
      };
      expect(lines.values.map(({ action }) => action)).toEqual(['consent.withdrawn']);
    }
  });

  it('nobody with the token of another transaction', async () => {
    const [one, other] = [await consented(), await consented()];
    expect((await problemOf(await withdraw({ id: one.made.id, token: other.made.token }))).said).toBe(
      '404 not-found',
    );
    expect(await newestOf(one.subject, 'processing.001')).toMatchObject({ value: 'accepted' });
  });
});

describe('a transaction token', () => {
  it('yields no withdrawal that was made at another transaction of the person', async () => {
    const { made: one, subject } = await consented();
    const { made: other } = await consented({ subject, attributes: { form: 'other' } });
    const withdrawal = await transactionIn(withdraw(other));
    for (const body of [undefined, { elements: [letter] }])
      expect((await problemOf(await withdraw(one, body))).said).toBe('409 nothing-to-withdraw');
    const [again, operators] = [
      await withdraw(other),
      await shop.send('POST', `/consents/${one.id}/withdraw`),
    ];
    for (const answer of [again, operators])
      expect([answer.status, (await transactionIn(answer)).id]).toEqual([200, withdrawal.id]);
  });

  it('yields the withdrawal that was made at its transaction, also if there is a newer one elsewhere', async () => {
    const { made: one, subject } = await consented();
    const { made: other } = await consented({ subject, attributes: { form: 'other' } });
    const { id } = await transactionIn(withdraw(one, { elements: [letter] }));
    expect((await withdraw(other)).status).toBe(201);
    const again = await withdraw(one);
    expect([again.status, (await transactionIn(again)).id]).toEqual([200, id]);
  });
});

describe('a request that withdraws nothing says why', () => {
  const said = async (answer: Promise<Response>) => (await problemOf(await answer)).said;

  it('before the answers are committed, and after a cancellation', async () => {
    const open = await createTransaction(shop, { cancellable: true });
    expect(await said(withdraw(open))).toBe('409 wrong-state');
    await shop.send('POST', `/consents/${open.id}/cancel`);
    expect(await said(withdraw(open))).toBe('409 wrong-state');
  });

  it('if nothing was accepted, or it was refused in a form since', async () => {
    const refused = { ...complete, [letter]: ['refused'], [study]: ['refused'] };
    const { made } = await consented({}, refused);
    expect(await said(withdraw(made))).toBe('409 nothing-to-withdraw');
    const second = await consented();
    await recordAnswers(shop, second.subject, { [letter]: ['refused'], [study]: ['refused'] });
    expect(await said(withdraw(second.made))).toBe('409 nothing-to-withdraw');
  });

  it('for preferences, unknown questions and bad bodies, and then changes nothing', async () => {
    const { made, subject } = await consented();
    const answer = await problemOf(await withdraw(made, { elements: [letter, often, 'nothing'] }));
    expect(answer.said).toBe('422 not-withdrawable');
    expect((answer.errors as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual([
      '/elements/1',
      '/elements/2',
    ]);
    const ofPerson = shop.send('POST', '/choices/withdraw', { subject, elements: [often, 'nothing'] });
    expect(await said(ofPerson)).toBe('422 not-withdrawable');
    const many = Array.from({ length: 201 }, () => letter);
    expect(await said(withdraw(made, { elements: many }))).toBe('422 invalid');
    expect(await said(withdraw(made, { elements: [] }))).toBe('422 invalid');
    expect(await said(withdraw(made, { comment: 'x'.repeat(4_001) }))).toBe('422 invalid-answer');
    expect(await said(withdraw(made, { elements: [letter], comment: 'a\0b' }))).toMatch(/^4/);
    expect(await newestOf(subject, 'processing.001')).toMatchObject({ value: 'accepted' });
  });

  it('for what rests on another ground than consent', async () => {
    const bound = { ...sampleContent.processing, refusable: false, legalBases: ['LEGAL_BASIS_CONTRACT'] };
    const model = await makeLiveModel(admin, 'processing', { en: bound });
    const identifier = `element/processing/${model.key}/1.0`;
    const made = await recordAnswers(shop, 'bound by contract', { [identifier]: ['accepted'] });
    const path = `/consents/${made.id}/withdraw`;
    expect(await said(shop.send('POST', path))).toBe('409 nothing-to-withdraw');
    expect(await said(shop.send('POST', path, { elements: [identifier] }))).toBe('422 not-withdrawable');
  });
});

describe('all consents of a person', () => {
  it('are listed as they were given, and those of one form as it asked them, also while they wait', async () => {
    const { key } = await makeLiveModel(admin, 'processing', { en: sampleContent.processing });
    const last = `element/processing/${key}/1.0`;
    const [first, second] = ['listed', 'listed too'];
    await recordAnswers(shop, first, { [last]: ['accepted'] });
    await recordAnswers(shop, first, { [study]: ['accepted'], [letter]: ['accepted'] });
    const elements = ['processing.002', 'processing.001'];
    const context = { subject: second, layoutData: { elements } };
    await submitForCode(shop, context, { [letter]: ['accepted'], [study]: ['accepted'] });
    for (const [subject, asked] of [
      [first, [last, study, letter]],
      [second, [study, letter]],
    ] as const) {
      const done = await shop.send('POST', '/choices/withdraw', { subject });
      const { transactions } = (await done.json()) as { transactions: { id: string }[] };
      const { consents } = await receiptOf(transactions[0] as { id: string });
      expect([subject, consents.map(({ identifier }) => identifier)]).toEqual([subject, asked]);
    }
  });

  const withdrawAll = async (body: object, caller: Caller = shop) => {
    const answer = await caller.send('POST', '/choices/withdraw', body);
    const { transactions } = (await answer.json()) as { transactions: Representation[] };
    return { status: answer.status, transactions };
  };
  const refusedOf = async (subject: string) =>
    Object.values(await recordsOf(shop, subject))
      .flat()
      .filter(({ value, status }) => value === 'refused' && status === 'VALID')
      .map(({ bodyKey, object = '', transaction }) => ({ at: `${object}/${bodyKey}`, transaction }));

  it('are withdrawn together, in a transaction for each object, and again without effect', async () => {
    const subject = 'nora of two cards';
    await recordAnswers(shop, subject, { [letter]: ['accepted'], [often]: ['Every week'] });
    await recordAnswers(shop, subject, { [study]: ['accepted'] });
    await recordAnswers(shop, subject, { [letter]: ['accepted'] }, { object: 'card 7' });
    const { status, transactions } = await withdrawAll({ subject, comment: 'By letter' });
    expect(status).toBe(201);
    expect(transactions.map(({ kind, parent }) => ({ kind, parent }))).toEqual([
      { kind: 'WITHDRAWAL', parent: undefined },
      { kind: 'WITHDRAWAL', parent: undefined },
    ]);
    const [without, card] = transactions.map(({ id }) => id);
    expect((await refusedOf(subject)).sort((a, b) => (a.at < b.at ? -1 : 1))).toEqual([
      { at: '/processing.001', transaction: without },
      { at: '/processing.002', transaction: without },
      { at: 'card 7/processing.001', transaction: card },
    ]);
    const again = await withdrawAll({ subject });
    expect(again.status).toBe(200);
    expect(again.transactions.map(({ id }) => id)).toEqual([without, card]);
  });

  it('can be limited to an object and to questions', async () => {
    const subject = 'nils of two cards';
    for (const object of ['card 1', 'card 2'])
      await recordAnswers(shop, subject, { [letter]: ['accepted'], [study]: ['accepted'] }, { object });
    await withdrawAll({ subject, object: 'card 2', elements: [study, 'never answered'] });
    expect((await refusedOf(subject)).map(({ at }) => at)).toEqual(['card 2/processing.002']);
  });

  it('are for the person alone, and for those who act for people', async () => {
    const user = await signIn(instance, 'user');
    const { subject } = (await (await user.get('/user')).json()) as { subject?: string };
    const own = subject ?? 'user';
    await recordAnswers(shop, own, { [letter]: ['accepted'] });
    const said = async (body: object, caller = user) =>
      (await problemOf(await caller.send('POST', '/choices/withdraw', body))).said;
    expect(await said({ subject: 'somebody else' })).toBe('403 forbidden');
    expect((await withdrawAll({}, user)).status).toBe(201);
    expect((await newestOf(own, 'processing.001'))?.origin).toBe('USER');
    expect(await said({}, operator)).toBe('422 invalid');
    expect(await said({ subject: 'never seen' }, operator)).toBe('409 nothing-to-withdraw');
  });
});

describe('a refusal in a form', () => {
  it('withdraws an accepted answer too, and tells it', async () => {
    const { subject } = await consented();
    const accepted = await newestOf(subject, 'processing.001');
    const later = await recordAnswers(shop, subject, { [letter]: ['refused'], [study]: ['accepted'] });
    expect(await newestOf(subject, 'processing.001')).toMatchObject({ withdraws: accepted?.serial });
    expect((await newestOf(subject, 'processing.002'))?.withdraws).toBeUndefined();
    const events = await eventsOf(instance, later);
    expect(events.map(({ event }) => event.data.withdraws).filter(Boolean)).toEqual([
      [{ record: accepted?.serial, element: 'processing.001' }],
    ]);
    const again = await recordAnswers(shop, subject, { [letter]: ['refused'] });
    expect((await newestOf(subject, 'processing.001'))?.transaction).toBe(again.id);
    expect((await newestOf(subject, 'processing.001'))?.withdraws).toBeUndefined();
  });
});

describe('no answer given before a withdrawal is in force after it', () => {
  it('an answer that awaited its code then counts as older, and its receipt says so', async () => {
    const { made, subject } = await consented();
    const pending = await createTransaction(shop, { subject, confirmation: 'FORM_CODE' });
    expect((await subjectOf(instance, pending).submit(both)).status).toBe(200);
    const withdrawal = await transactionIn(withdraw(made, { elements: [letter] }));
    const { code } = (await (await shop.get(`/consents/${pending.id}/confirm`)).json()) as { code: string };
    const confirmed = await shop.send('POST', `/consents/${pending.id}/confirm`, { code });
    expect((await transactionIn(confirmed)).state).toBe('COMMITTED');
    expect(await decisionOf(subject, 'processing.001')).toMatchObject({ reason: 'WITHDRAWN' });
    expect(await decisionOf(subject, 'processing.002')).toMatchObject({ allowed: true });
    expect(await newestOf(subject, 'processing.002')).toMatchObject({ transaction: pending.id });
    const { timestamp } = (await receiptOf(withdrawal)) as Receipt & { timestamp: string };
    expect((await receiptOf(pending)).consents.map(({ withdrawn }) => withdrawn)).toEqual([
      timestamp,
      undefined,
      undefined,
    ]);
    // What is given afterwards is consent again.
    await recordAnswers(shop, subject, { [letter]: ['accepted'] });
    expect(await decisionOf(subject, 'processing.001')).toMatchObject({ allowed: true });
  });

  it('a consent that still awaits its code is withdrawn with a receipt; nobody acted on it, so no recipient is told', async () => {
    const { id, subject, code } = await submitForCode(shop, {}, both);
    const answer = await shop.send('POST', '/choices/withdraw', { subject, elements: [letter] });
    expect(answer.status).toBe(201);
    const [withdrawal] = ((await answer.json()) as { transactions: Representation[] }).transactions;
    const { 'processing.001': records = [] } = await recordsOf(shop, subject);
    const record = records.find(({ value }) => value === 'accepted');
    const receipt = await receiptOf(withdrawal as Representation);
    expect(receipt.consents.map(({ identifier, withdraws }) => [identifier, withdraws?.record])).toEqual([
      [letter, record?.serial],
    ]);
    const told = await eventsOf(instance, withdrawal as Representation);
    expect(told.map(({ event }) => event.type)).not.toContain('io.accord.consent.withdrawn.v1');
    expect((await shop.send('POST', `/consents/${id}/confirm`, { code })).status).toBe(200);
    expect(await decisionOf(subject, 'processing.001')).toMatchObject({ allowed: false });
    const { receiptId, consents } = await receiptOf({ id });
    expect(receiptId).toBe(receipt.consents[0]?.withdraws?.receiptId);
    const at = (receipt as Receipt & { timestamp: string }).timestamp;
    expect(consents.map(({ withdrawn }) => withdrawn)).toEqual([at, undefined, undefined]);
  });

  it('a consent that awaits its code is withdrawn also if an earlier answer rests on another ground', async () => {
    const bound = { ...sampleContent.processing, refusable: false, legalBases: ['LEGAL_BASIS_CONTRACT'] };
    const model = await makeLiveModel(admin, 'processing', { en: bound });
    const { subject } = await createTransaction(shop);
    await recordAnswers(shop, subject, { [`element/processing/${model.key}/1.0`]: ['accepted'] });
    const free = { ...bound, refusable: true, legalBases: ['LEGAL_BASIS_CONSENT'] };
    await activateContent(admin, model, { en: free }, 'MAJOR');
    const accepted = { [`element/processing/${model.key}/2.0`]: ['accepted'] };
    const layoutData = { elements: [model.key] };
    const { id, code } = await submitForCode(shop, { subject, layoutData }, accepted);
    const asked = await shop.send('POST', '/choices/withdraw', { subject, elements: [model.key] });
    expect(asked.status).toBe(201);
    const [withdrawal] = ((await asked.json()) as { transactions: Representation[] }).transactions;
    const { withdraws } = (await newestOf(subject, model.key)) ?? {};
    const { consents } = await receiptOf(withdrawal as Representation);
    expect(consents[0]?.withdraws?.record).toBe(withdraws);
    const told = await eventsOf(instance, withdrawal as Representation);
    expect(told.map(({ event }) => event.type)).not.toContain('io.accord.consent.withdrawn.v1');
    expect((await shop.send('POST', `/consents/${id}/confirm`, { code })).status).toBe(200);
    expect(await decisionOf(subject, model.key)).toMatchObject({ reason: 'WITHDRAWN' });
  });

  it('a refusal that awaited its code is not said to be withdrawn', async () => {
    const { made, subject } = await consented();
    const answers = { ...both, [study]: ['refused'] };
    const { id, code } = await submitForCode(shop, { subject }, answers);
    expect((await withdraw(made)).status).toBe(201);
    expect((await shop.send('POST', `/consents/${id}/confirm`, { code })).status).toBe(200);
    const marks = (await receiptOf({ id })).consents.map(({ answer, withdrawn }) => [answer[0], !!withdrawn]);
    expect(marks).toEqual([
      ['accepted', true],
      ['refused', false],
      ['Every week', false],
    ]);
    const jsonLd = await (await shop.get(`/receipts/${id}`, { Accept: 'application/ld+json' })).text();
    expect(jsonLd.match(/dpv:Consent(Withdrawn|Refused)\b/g)).toEqual([
      'dpv:ConsentWithdrawn',
      'dpv:ConsentRefused',
    ]);
    const text = await (await shop.get(`/receipts/${id}?format=text`)).text();
    expect(text.match(/never in force/g)).toHaveLength(1);
  });

  it('also when submissions and withdrawals race', { timeout: 30_000 }, async () => {
    const race = async (round: number) => {
      const { made, subject } = await consented();
      const open = await Promise.all(
        [1, 2, 3].map((object) =>
          createTransaction(shop, { subject, attributes: { round: `${round}`, object: `${object}` } }),
        ),
      );
      const answers = open.map((one) => subjectOf(instance, one).submit(both));
      const withdrawal = await withdraw(made);
      expect([200, 201]).toContain(withdrawal.status);
      await Promise.all(answers);
      const records = (await recordsOf(shop, subject))['processing.001'] ?? [];
      const refused = records.filter(({ value }) => value === 'refused');
      expect(refused).toHaveLength(1);
      const [refusal] = refused;
      const decision = await decisionOf(subject, 'processing.001');
      const acceptedAt = records
        .filter(({ value }) => value === 'accepted')
        .map(({ creationTimestamp }) => creationTimestamp - (refusal?.creationTimestamp ?? 0));
      // In the same millisecond either may be the later one.
      if (Math.max(...acceptedAt) !== 0)
        expect(decision?.reason).toBe(Math.max(...acceptedAt) > 0 ? 'GIVEN' : 'WITHDRAWN');
    };
    // Few at once, because a busy instance refuses requests.
    for (let first = 0; first < 24; first += 6)
      await Promise.all([0, 1, 2, 3, 4, 5].map((next) => race(first + next)));
  });
});

describe('pages', () => {
  const pageAt = async (path: string) => {
    const html = await (await instance.fetch(path, { headers: { Accept: 'text/html' } })).text();
    return parsePage(html);
  };
  /** What the forms of a page would withdraw. */
  const offered = (page: ReturnType<typeof parsePage>) =>
    page
      .tagged('form')
      .filter(({ attribs }) => attribs.action?.includes('/withdraw?t='))
      .map((form) => DomUtils.getElementsByTagName('input', form).map(({ attribs }) => attribs.value));

  it('the final page, the receipt and the page of its QR code withdraw with one button, or all at once', async () => {
    const { made, as, receiptToken } = await consented({ language: 'en' });
    const wanted = [[letter], [study], [letter, study]];
    const final = parsePage(await (await as.get('', 'text/html')).text());
    expect(offered(final)).toEqual(wanted);
    const query = `?t=${encodeURIComponent(receiptToken)}`;
    expect(offered(await pageAt(`/receipts/${made.id}${query}`))).toEqual(wanted);
    const qr = await pageAt(`/consents/${made.id}/child${query}`);
    expect(offered(qr)).toEqual(wanted);
    const [first] = qr.tagged('form').filter(({ attribs }) => attribs.action?.includes('/withdraw'));
    const posted = await instance.fetch(first?.attribs.action ?? '', {
      method: 'POST',
      redirect: 'manual',
      headers: { Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ elements: letter }),
    });
    expect(posted.status).toBe(303);
    const result = await pageAt(posted.headers.get('location') ?? '');
    expect(result.text(result.tagged('h1')[0])).toBe('Your consent was withdrawn');
    expect(offered(result)).toEqual([]);
    // The earlier page says what has become of it.
    const before = parsePage(await (await as.get('', 'text/html')).text());
    expect(offered(before)).toEqual([[study]]);
    expect(before.text(before.tagged('main')[0])).toContain('Withdrawn on');
  });

  it('of the first answer keep the time of its withdrawal when the person refuses in a form later', async () => {
    const { made, as, subject } = await consented({ language: 'en' });
    await withdraw(made, { elements: [letter] });
    const notes = async (path: string) => {
      const page = await (await shop.get(path, { Accept: 'text/html' })).text();
      return parsePage(page)
        .text()
        .match(/Withdrawn on [^.]*\d/g);
    };
    const before = await notes(`/consents/${made.id}`);
    expect(before).toHaveLength(1);
    const later = await recordAnswers(shop, subject, { [letter]: ['refused'] });
    for (const path of [`/consents/${made.id}`, `/receipts/${made.id}`])
      expect([path, await notes(path)]).toEqual([path, before]);
    expect((await as.get('', 'text/html')).status).toBe(200);
    expect(await notes(`/consents/${later.id}`)).toBeNull();
  });

  it('of an answer that was withdrawn while it waited keep that time, too', async () => {
    const { made, subject } = await consented({ language: 'en' });
    const context = { subject, layoutData: { elements: ['processing.001'] }, language: 'en' };
    const waiting = await submitForCode(shop, context, { [letter]: ['accepted'] });
    await withdraw(made, { elements: [letter] });
    const notes = async (path: string) =>
      parsePage(await (await shop.get(path, { Accept: 'text/html' })).text())
        .text()
        .match(/Withdrawn on [^.]*\d/g);
    const before = await notes(`/consents/${made.id}`);
    expect(before).toHaveLength(1);
    await letTimePass(instance, '5 minutes');
    await recordAnswers(shop, subject, { [letter]: ['refused'] });
    const entered = await shop.send('POST', `/consents/${waiting.id}/confirm`, { code: waiting.code });
    await letTimePass(instance, '0 minutes');
    expect(entered.status).toBe(200);
    for (const path of [`/consents/${waiting.id}`, `/receipts/${waiting.id}`])
      expect([path, await notes(path)]).toEqual([path, before]);
  });

  it('the receipt of a withdrawal is a PDF, a text and XML too', async () => {
    const { made } = await consented({ language: 'fr' });
    const { id }: Representation = await transactionIn(withdraw(made));
    const text = await (await shop.get(`/receipts/${id}?format=text`)).text();
    expect(text).toContain('Reçu d’un retrait');
    expect(text).toContain('Retiré');
    expect(text).toMatch(/Vous aviez accepté le/);
    const xml = await (await shop.get(`/receipts/${id}?format=xml`)).text();
    expect(xml).toContain('<kind>WITHDRAWAL</kind>');
    // A busy machine prints no PDF for some seconds.
    const pdf = await until(async () => {
      const printed = await shop.get(`/receipts/${id}?format=pdf`);
      expect(printed.status).toBe(200);
      return Buffer.from(await printed.arrayBuffer());
    });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  });

  it('an error has a page in the language of the reader', async () => {
    const refused = { ...complete, [letter]: ['refused'], [study]: ['refused'] };
    const { made } = await consented({}, refused);
    const answer = await instance.fetch(`/consents/${made.id}/withdraw?t=${made.token}`, {
      method: 'POST',
      headers: { Accept: 'text/html', 'Accept-Language': 'fr' },
    });
    expect(answer.status).toBe(409);
    expect(await answer.text()).toContain('Il n’y a rien à retirer');
  });
});
