import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { generatePrivateKey, publicPart, readPrivateKey } from '#lib/config/secret-values.ts';
import type { AnswerCheck } from '#lib/contracts/forms.ts';
import type { SealedPart } from '#lib/contracts/parts.ts';
import type { PeerEntry } from '#lib/contracts/peer-entries.ts';
import type { Failure } from '#lib/errors/fail.ts';
import { askedDigest, openAnswers, type SealedContent } from '#lib/federation/sealed-answers.ts';
import { type FormsService, formsBaseUrl, startForms } from '../support/instances/forms-service.ts';
import { keepCatalogue, samplePeer, sharedEntry, sharedInformation } from '../support/peers/peer-entries.ts';
import { makeActive, sampleContent } from '../support/samples/forms-models.ts';

const drawKey = () => readPrivateKey(generatePrivateKey());
/** As pairing keeps it: without its name, which follows from it. */
function publicKey(key: ReturnType<typeof drawKey>) {
  const { kty, crv, x, y } = publicPart(key);
  return { kty, crv, x, y };
}
const labKey = drawKey();
const lab = { ...samplePeer(), sealingKey: publicKey(labKey) };
const clinicKey = drawKey();
const clinic = { ...samplePeer('https://clinic.example', 'Clinic'), sealingKey: publicKey(clinicKey) };
const at = 'lab.example:8443';

let forms: FormsService;
const keep = (entries: PeerEntry[], peer = lab) => keepCatalogue(forms, peer, entries);
beforeAll(async () => {
  forms = await startForms();
  const { id } = await makeActive(forms, 'information', sampleContent.information, 'own.information');
  await forms.send(`/models/${id}`, { method: 'PUT', json: { name: 'Own', default: true } });
  await makeActive(forms, 'processing', sampleContent.processing, 'study');
  await keep([sharedInformation, sharedEntry({ key: 'care' })], clinic);
}, 60_000);
afterAll(() => forms?.stop());

const wishes = sharedEntry({
  key: 'wishes',
  type: 'preference',
  name: 'Wishes',
  data: { en: { label: 'Wishes', valueType: 'FREE_TEXT', optional: true } },
});
const news = sharedEntry({
  key: 'news',
  type: 'preference',
  name: 'News',
  data: { en: { ...sampleContent.preference, valueType: 'CHECKBOXES' } },
});
beforeEach(() => keep([sharedInformation, sharedEntry(), wishes, news]));

const own = 'element/processing/study/1.0';
const information = 'element/information/own.information/1.0';
const theirs = (serial = '1.0', type = 'processing', key = 'study') =>
  `element/${type}/${key}@${at}/${serial}`;
const until = new Date('2026-12-24T18:00:00.500Z');

interface Given {
  elements?: string[];
  form?: boolean;
  peersOptional?: boolean;
  openedAt?: string;
  languages?: string[];
}
async function check(answers: Record<string, string[]>, given: Given = {}) {
  const { elements = ['study', `study@${at}`], ...more } = given;
  const { layout } = await forms.operations.resolveLayout({ layoutData: { elements: ['study'] } });
  const input = {
    layout: { ...layout, elements },
    languages: ['en'],
    form: false,
    hidden: [],
    answers,
    openedAt: new Date(Date.now() - 60_000).toISOString(),
    givenAt: new Date().toISOString(),
    sealUntil: until.toISOString(),
  };
  return forms.operations.checkAnswers({ ...input, ...more });
}
async function partsOf(work: Promise<AnswerCheck>): Promise<SealedPart[]> {
  const result = await work;
  if (result.outcome !== 'valid') throw new Error(`the answers are ${JSON.stringify(result)}`);
  return result.parts;
}
/** What the peer reads. */
async function read(part: SealedPart | undefined, key = labKey): Promise<SealedContent> {
  const opened = openAnswers(part?.sealed ?? '', { keys: [key], now: new Date('2026-12-01') });
  if (!opened.opened) throw new Error(`it does not open: ${opened.fault}`);
  return opened.content;
}

describe('answers to a peer’s elements', () => {
  it('are checked by the same rules as our own', async () => {
    const checked = (answers: Record<string, string[]>) => check({ [own]: ['refused'], ...answers });
    expect(await checked({})).toMatchObject({
      faults: [{ code: 'required', pointer: `/element~1processing~1study@${at}~11.0` }],
    });
    expect(await checked({ [theirs()]: ['perhaps'] })).toMatchObject({ faults: [{ code: 'not-an-option' }] });
    expect(await checked({ [theirs('1.0', 'preference')]: ['accepted'] })).toMatchObject({
      outcome: 'invalid',
    });
    expect(await checked({ [theirs('7.0')]: ['accepted'] })).toMatchObject({
      faults: [{ code: 'unknown-element' }, {}],
    });
  });

  it('are sealed to the peer with the asked elements, without its host, and removed from our own answers', async () => {
    const elements = ['study', `study@${at}`, `wishes@${at}`];
    const result = await check({ [own]: ['refused'], [theirs()]: ['accepted'] }, { elements });
    if (result.outcome !== 'valid') throw new Error('valid');
    expect(result.answers.map(({ identifier, value }) => [identifier, value])).toEqual([[own, ['refused']]]);
    const [part, ...others] = result.parts;
    expect(others).toEqual([]);
    expect(part).toMatchObject({
      sid: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{22}$/),
      location: lab.url,
      name: lab.name,
      info: { identifier: `element/information/about.us@${at}/1.0` },
      elements: [{ identifier: theirs() }, { identifier: theirs('1.0', 'preference', 'wishes') }],
    });
    const asked = {
      info: 'element/information/about.us/1.0',
      elements: ['element/preference/wishes/1.0', 'element/processing/study/1.0'],
    };
    expect(await read(part)).toEqual({
      language: 'en',
      ...asked,
      answers: { 'element/processing/study/1.0': ['accepted'] },
    });
    expect(decodeProtectedHeader(part?.sealed ?? '')).toMatchObject({
      sid: part?.sid,
      leader: formsBaseUrl,
      digest: askedDigest(asked),
      kid: labKey.kid,
      exp: Math.ceil(until.getTime() / 1000),
    });
    expect(JSON.stringify(result)).not.toContain('"accepted"]');
  });

  it('are refused if they are larger than the peer accepts, and the longest is named', async () => {
    const keys = Array.from({ length: 70 }, (_, index) => `wish.${index + 10}`);
    await keep([sharedInformation, ...keys.map((key) => ({ ...wishes, key }))]);
    const elements = keys.map((key) => `${key}@${at}`);
    // JSON writes a control character as six.
    const answer = (count: number) => [`x${'\u0001'.repeat(count - 1)}`];
    const named = keys.map((key) => theirs('1.0', 'preference', key));
    const send = (count: number, longest: string) =>
      check(Object.fromEntries(named.map((name) => [name, answer(name === longest ? 4_000 : count)])), {
        elements,
      });
    const longest = named[42] as string;
    expect(await send(3_900, longest)).toEqual({
      outcome: 'invalid',
      faults: [
        {
          pointer: `/${longest.replaceAll('/', '~1')}`,
          code: 'too-long-together',
          detail: 'is too long together with the other answers to this peer',
        },
      ],
    });
    const [part] = await partsOf(send(3_600, longest));
    expect(Object.values((await read(part)).answers).length).toBe(keys.length);
  });

  it('are sealed without an optional element that the page did not show', async () => {
    const post = {
      'accord-shown': [own, theirs()],
      info: [information],
      [own]: ['refused'],
      [theirs()]: ['accepted'],
    };
    const [part] = await partsOf(
      check(post, { elements: ['study', `study@${at}`, `wishes@${at}`], form: true }),
    );
    expect(part?.elements.map(({ identifier }) => identifier)).toEqual([theirs()]);
    expect((await read(part)).elements).toEqual(['element/processing/study/1.0']);
  });

  it('show the owner’s host if another peer has its name, and are sealed without it', async () => {
    const namesake = { ...lab, url: 'https://namesake.example' };
    await keep([sharedInformation], namesake);
    const [part] = await partsOf(check({ [own]: ['refused'], [theirs()]: ['accepted'] }));
    await forms.operations.forgetPeer({ url: namesake.url });
    const name = `${lab.name} (${at})`;
    expect(part).toMatchObject({ name, location: lab.url, info: { owner: name } });
    expect((await read(part)).answers).toEqual({ 'element/processing/study/1.0': ['accepted'] });
  });

  it('of two peers become two parts, each for its owner only, with different ids', async () => {
    const answers = {
      [theirs()]: ['accepted'],
      'element/processing/care@clinic.example/1.0': ['refused'],
    };
    const elements = [`study@${at}`, 'care@clinic.example'];
    const [first, second] = await partsOf(check(answers, { elements }));
    expect((await read(first)).answers).toEqual({ 'element/processing/study/1.0': ['accepted'] });
    expect((await read(second, clinicKey)).answers).toEqual({ 'element/processing/care/1.0': ['refused'] });
    await expect(read(second)).rejects.toThrow('unknown-key');
    const again = await partsOf(check(answers, { elements }));
    expect(new Set([first, second, ...again].map((part) => part?.sid)).size).toBe(4);
  });

  it('to a former MINOR are accepted if it was displayed; those to a former MAJOR are stale', async () => {
    await keep([sharedInformation, sharedEntry({ serial: '1.1' })]);
    const checked = (serial: string, given?: Given) =>
      check({ [own]: ['refused'], [theirs(serial)]: ['accepted'] }, given);
    const [part] = await partsOf(checked('1.0'));
    expect((await read(part)).elements).toEqual(['element/processing/study/1.0']);
    const later = new Date(Date.now() + 60_000).toISOString();
    expect(await checked('1.0', { openedAt: later })).toEqual({ outcome: 'stale', stale: [theirs('1.0')] });
    await keep([sharedInformation, sharedEntry({ serial: '2.0' })]);
    expect(await checked('1.1')).toMatchObject({ outcome: 'stale' });
  });

  it('are sealed with the information that the page showed, and are stale if it has a new MAJOR', async () => {
    const about = (serial: string) => `element/information/about.us@${at}/${serial}`;
    const post = (serial: string, given?: Given) =>
      check(
        {
          'accord-shown': [own, theirs(), about(serial)],
          info: [information],
          [own]: ['refused'],
          [theirs()]: ['accepted'],
        },
        { form: true, ...given },
      );
    await keep([{ ...sharedInformation, serial: '1.1' }, sharedEntry()]);
    const [part] = await partsOf(post('1.0'));
    expect(part?.info.identifier).toBe(about('1.0'));
    expect((await read(part)).info).toBe('element/information/about.us/1.0');
    expect((await partsOf(post('1.1')))[0]?.info.identifier).toBe(about('1.1'));
    const later = new Date(Date.now() + 60_000).toISOString();
    expect(await post('1.0', { openedAt: later })).toEqual({ outcome: 'stale', stale: [about('1.0')] });
    expect(await post('7.0')).toEqual({ outcome: 'stale', stale: [about('7.0')] });
    await keep([{ ...sharedInformation, serial: '2.0' }, sharedEntry()]);
    expect(await post('1.1')).toEqual({ outcome: 'stale', stale: [about('1.1')] });
    await keep([{ ...sharedInformation, key: 'about.them' }, sharedEntry()]);
    expect(await post('1.1')).toEqual({ outcome: 'stale', stale: [about('1.1')] });
  });

  it('to withdrawn elements of the peer are stale', async () => {
    await keep([sharedInformation]);
    expect(await check({ [own]: ['refused'], [theirs()]: ['accepted'] })).toMatchObject({ outcome: 'stale' });
  });

  it('are also set by accept-all and refuse-all', async () => {
    for (const [action, decision] of [
      ['accept-all', 'accepted'],
      ['refuse-all', 'refused'],
    ] as const) {
      const post = { 'accord-action': [action], 'accord-shown': [own, theirs()], info: [information] };
      const [part] = await partsOf(check(post, { form: true }));
      expect((await read(part)).answers).toEqual({ 'element/processing/study/1.0': [decision] });
    }
  });

  it('are not accepted without the information of the peer', async () => {
    await keep([sharedEntry()]);
    const failure = await check({ [own]: ['refused'], [theirs()]: ['accepted'] }).catch(
      (error: Failure) => error,
    );
    expect(failure).toMatchObject({ code: 'unavailable', members: { peer: lab.url } });
    expect((failure as Failure).message).toContain(lab.name);
  });
});

describe('in a child, answers to a peer’s elements', () => {
  const elements = ['study', `study@${at}`, `news@${at}`];
  const post = {
    'accord-shown': [own, theirs(), theirs('1.0', 'preference', 'news')],
    info: [information],
    [own]: ['refused'],
  };
  it('may be omitted: the elements then count as not asked, and empty boxes as no answer', async () => {
    expect(await partsOf(check({ [own]: ['refused'] }, { elements, peersOptional: true }))).toEqual([]);
    expect(await partsOf(check(post, { elements, peersOptional: true, form: true }))).toEqual([]);
    // In the first form they are.
    expect(await check(post, { elements, form: true })).toMatchObject({ faults: [{ code: 'required' }] });
  });
  it('are sealed without the unanswered elements', async () => {
    const [part] = await partsOf(
      check({ ...post, [theirs()]: ['refused'] }, { elements, peersOptional: true, form: true }),
    );
    expect(await read(part)).toMatchObject({
      elements: ['element/processing/study/1.0'],
      answers: { 'element/processing/study/1.0': ['refused'] },
    });
  });
  it('are set by accept-all', async () => {
    const pressed = { ...post, 'accord-action': ['accept-all'] };
    const [part] = await partsOf(check(pressed, { elements, peersOptional: true, form: true }));
    expect((await read(part)).answers).toEqual({ 'element/processing/study/1.0': ['accepted'] });
  });
  it('must still be valid', async () => {
    expect(
      await check({ ...post, [theirs()]: ['perhaps'] }, { elements, peersOptional: true }),
    ).toMatchObject({
      outcome: 'invalid',
    });
  });
});
