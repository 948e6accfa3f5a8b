import { randomUUID } from 'node:crypto';
import { CompactEncrypt, importJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generatePrivateKey, publicPart, readPrivateKey } from '#lib/config/secret-values.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import {
  activateContent,
  type LiveModel,
  makeLiveModel,
  withdrawModel,
} from '../support/instances/live-models.ts';
import { type OwnerInstance, startOwner } from '../support/instances/owner-instance.ts';
import { digestOf, makePart, newPeer, type PartChanges } from '../support/peers/peer-parts.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const letter = 'element/processing/processing.001/1.0';
const often = 'element/preference/preference.001/1.0';
const interests = 'element/preference/preference.002/1.0';
const told = 'element/preference/preference.003/1.0';
const required = 'element/processing/processing.003/1.0';
const terms = 'element/conditions/conditions.001/1.0';

let lab: OwnerInstance;
beforeAll(async () => {
  lab = await startOwner();
  for (const model of [
    'processing.001',
    'processing.003',
    'preference.001',
    'preference.002',
    'preference.003',
  ])
    await lab.share(model);
  await lab.share('conditions.001');
}, 60_000);
afterAll(() => lab?.stop());

/** Sends a part, and again; it must be refused for this reason both times, and leave nothing behind. */
async function expectRefusal(reason: string, changes: PartChanges): Promise<void> {
  const part = await makePart(lab, changes);
  for (const replica of [lab.one, lab.other])
    expect(await replica.acceptSubmission(part)).toEqual({ verdict: 'refused', reason });
  const stored = await rowsOf(lab, 'SELECT id FROM transactions.transactions WHERE leader->>$$id$$ = $1', [
    part.submission.leader.id,
  ]);
  expect(stored).toEqual([]);
}

describe('a part that cannot be opened or contradicts its header', () => {
  const stranger = readPrivateKey(generatePrivateKey());
  const hourAgo = Math.floor(Date.now() / 1000) - 3600;
  it.each<[string, PartChanges]>([
    ['is sealed to a key that is not ours', { key: stranger }],
    ['says our key but is sealed to another', { key: { ...stranger, kid: 'ours' } }],
    ['was sealed for another submission', { header: { sid: randomId() } }],
    ['was sealed by another instance', { header: { leader: 'https://evil.example' } }],
    [
      'names another instance as its leader',
      { submission: { leader: { location: 'https://evil.example', id: 'x' } } },
    ],
    ['came too late to be opened', { header: { exp: hourAgo } }],
    ['was sealed for other questions', { header: { digest: 'x'.repeat(43) } }],
    ['was shown in another language than it says', { content: { language: 'fr' } }],
    ['is no sealed text', { submission: { sealed: 'nothing' } }],
    ['is empty', { submission: { sealed: '' } }],
    ['asks with half a character', { content: { elements: ['element/processing/\ud800/1.0'] } }],
    ['informs with half a character', { content: { info: '\udfff' } }],
  ])('is refused if it %s', async (_name, changes) => {
    await expectRefusal('seal', changes);
  });

  it('is refused if a byte of it was changed', async () => {
    const { submission } = await makePart(lab);
    const parts = submission.sealed.split('.');
    for (const [index, part] of parts.entries()) {
      if (part === '') continue;
      const sealed = parts.with(index, (part.startsWith('A') ? 'B' : 'A') + part.slice(1)).join('.');
      await expectRefusal('seal', { submission: { sealed } });
    }
  });

  it.each(['no JSON', '[]', 'null', '{"language":"en","answers":{}}', '{"answers":{"a":1}}'])(
    'is refused if what is sealed is %s',
    async (plaintext) => {
      const peer = newPeer();
      const sid = randomId();
      const key = publicPart(lab.secrets.instanceSealing[0] as never);
      const header = {
        sid,
        leader: peer.url,
        digest: 'x'.repeat(43),
        exp: Math.floor(Date.now() / 1000) + 60,
      };
      const sealed = await new CompactEncrypt(new TextEncoder().encode(plaintext))
        .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: key.kid as string, ...header })
        .encrypt(await importJWK(key, 'ECDH-ES'));
      await expectRefusal('seal', { peer, sid, submission: { sealed } });
    },
  );
});

describe('a part with elements that are not shared with the peer', () => {
  const ask = (element: string): PartChanges => ({ answers: { [element]: ['accepted'] } });
  it.each<[string, PartChanges]>([
    ['that never were', ask('element/processing/processing.999/1.0')],
    ['in a version that never was', ask('element/processing/processing.001/7.0')],
    ['of another type', ask('element/conditions/processing.001/1.0')],
    ['that are not shared', ask('element/processing/processing.002/1.0')],
    ['that have a host', ask('element/processing/processing.001@lab.example/1.0')],
    ['that are information', ask('element/information/information.001/1.0')],
    ['that have no version', ask('element/processing/processing.001')],
    ['that are no identifiers', ask('processing.001')],
    ['named like parts of an object', ask('element/processing/__proto__/1.0')],
    ['named like a part of an object', ask('__proto__')],
    ['with a NUL in the key', ask('element/processing/a\0b/1.0')],
    ['with a version that is no number', ask('element/processing/processing.001/1.0 OR 1=1')],
    ['under information that never was', { content: { info: 'element/information/none/1.0' } }],
    ['under something that is no information', { content: { info: letter } }],
    ['under information that goes with none of ours', { content: { info: '' } }],
  ])('%s is refused', async (_name, changes) => {
    await expectRefusal('unknown-element', changes);
  });

  it('is refused if the elements are shared only with other peers, and accepted from these', async () => {
    const friend = newPeer();
    await runInDatabase(lab, 'UPDATE forms.known_peers SET ids = array_append(ids, $1)', [friend.id]);
    const element = await makeLiveModel(lab.admin, 'processing', { en: sampleContent.processing });
    await lab.share(element.key, { sharedWith: [friend.id] });
    const answers = { [`element/processing/${element.key}/1.0`]: ['accepted'] };
    await expectRefusal('unknown-element', { answers });
    const part = await makePart(lab, { peer: friend, answers });
    expect(await lab.one.acceptSubmission(part)).toMatchObject({ verdict: 'committed' });
    await lab.share(element.key, { shared: false });
    await expectRefusal('unknown-element', { peer: friend, answers });
  });

  it('is refused if they were withdrawn', async () => {
    const element = await makeLiveModel(lab.admin, 'processing', { en: sampleContent.processing });
    await lab.share(element.key);
    await withdrawModel(lab.admin, element);
    await expectRefusal('unknown-element', ask(`element/processing/${element.key}/1.0`));
  });

  it('is refused if there is another default information now', async () => {
    const info = await makeLiveModel(lab.admin, 'information', { en: sampleContent.information });
    await expectRefusal('unknown-element', { content: { info: `element/information/${info.key}/1.0` } });
  });
});

describe('a part with an older version', () => {
  async function newElement(): Promise<LiveModel> {
    const element = await makeLiveModel(lab.admin, 'processing', { en: sampleContent.processing });
    await lab.share(element.key);
    return element;
  }
  const answersTo = ({ key }: LiveModel, serial: string) => ({
    [`element/processing/${key}/${serial}`]: ['accepted'],
  });

  it('is accepted while its MAJOR is ACTIVE, and recorded with the version that the subject saw', async () => {
    const element = await newElement();
    await activateContent(lab.admin, element, { en: { ...sampleContent.processing, title: 'Reworded' } });
    const part = await makePart(lab, { answers: answersTo(element, '1.0') });
    const { id, verdict } = await lab.one.acceptSubmission(part);
    expect(verdict).toBe('committed');
    expect(await (await lab.admin.get(`/receipts/${id}`)).json()).toMatchObject({
      consents: [{ identifier: `element/processing/${element.key}/1.0`, texts: { title: 'Letter' } }],
    });
  });

  it('is refused as stale when there is a newer MAJOR', async () => {
    const element = await newElement();
    await activateContent(lab.admin, element, { en: { ...sampleContent.processing, title: 'New' } }, 'MAJOR');
    await expectRefusal('stale', { answers: answersTo(element, '1.0') });
    const part = await makePart(lab, { answers: answersTo(element, '2.0') });
    expect((await lab.one.acceptSubmission(part)).verdict).toBe('committed');
  });

  it('stays refused even if it would be valid later', async () => {
    const element = await makeLiveModel(lab.admin, 'processing', { en: sampleContent.processing });
    const part = await makePart(lab, { answers: answersTo(element, '1.0') });
    const refused = { verdict: 'refused', reason: 'unknown-element' };
    expect(await lab.one.acceptSubmission(part)).toEqual(refused);
    await lab.share(element.key);
    expect(await lab.other.acceptSubmission(part)).toEqual(refused);
    const again = await makePart(lab, { peer: part.peer, answers: answersTo(element, '1.0') });
    expect((await lab.one.acceptSubmission(again)).verdict).toBe('committed');
  });
});

describe('a part with answers that are not possible', () => {
  const many = Object.fromEntries(
    Array.from({ length: 201 }, (_, n) => [`element/processing/p.${n}/1.0`, ['accepted']]),
  );
  it.each<[string, PartChanges]>([
    ['is missing', { answers: {}, content: { elements: [letter] } }],
    [
      'is missing beside another',
      { answers: { [letter]: ['accepted'] }, content: { elements: [letter, interests] } },
    ],
    ['is empty', { answers: { [letter]: [] } }],
    ['is another word', { answers: { [letter]: ['perhaps'] } }],
    ['is two', { answers: { [letter]: ['accepted', 'refused'] } }],
    ['refuses what cannot be refused', { answers: { [required]: ['refused'] } }],
    ['is no option', { answers: { [often]: ['Never'] } }],
    ['names an option twice', { answers: { [interests]: ['Dance', 'Dance'] } }],
    ['has half a character', { answers: { [told]: ['\ud800'] } }],
    ['has a NUL', { answers: { [told]: ['a\0b'] } }],
    ['is too long', { answers: { [told]: ['x'.repeat(4_001)] } }],
    [
      'is to something that was not asked',
      { content: { elements: [letter], answers: { [letter]: ['accepted'], [often]: ['Once a month'] } } },
    ],
    [
      'is to another version than was asked',
      { content: { elements: [letter], answers: { 'element/processing/processing.001/2.0': ['accepted'] } } },
    ],
    [
      'is to parts of an object',
      { content: { elements: [letter], answers: JSON.parse('{"__proto__":["accepted"]}') } },
    ],
    ['is one of 201', { answers: many }],
    [
      'is a comment',
      { content: { elements: [letter], answers: { [letter]: ['accepted'], comment: ['Hello'] } } },
    ],
    [
      'is given twice to one question',
      { answers: { [letter]: ['accepted'] }, content: { elements: [letter, letter] } },
    ],
    ['is to nothing that was asked', { answers: {}, content: { elements: [] } }],
    ['is to terms among other things', { answers: { [terms]: ['accepted'], [letter]: ['accepted'] } }],
  ])('is refused if one %s', async (_name, changes) => {
    await expectRefusal('invalid', changes);
  });

  it.each<[string, PartChanges]>([
    ['a subject without a name', { submission: { subject: '  ' } }],
    ['a subject with too long a name', { submission: { subject: 'x'.repeat(1_025) } }],
    [
      'a subject whose name is too long with the prefix',
      { peer: newPeer({ subjectPrefix: 'hospital/' }), submission: { subject: 'x'.repeat(1_020) } },
    ],
    ['a subject with half a character', { submission: { subject: 'jane\ud800' } }],
    ['a subject with a NUL', { submission: { subject: 'jane\0doe' } }],
    ['too long an object', { submission: { object: 'x'.repeat(256) } }],
    ['a time that is none', { submission: { validity: 'for ever' } }],
    ['a time that is too long', { submission: { validity: 'P101Y' } }],
    [
      'a leader without a transaction',
      {
        peer: newPeer({ url: 'https://a.example' }),
        submission: { leader: { location: 'https://a.example', id: '' } },
      },
    ],
    ['no language', { content: { language: 'no language' }, submission: { language: 'no language' } }],
  ])('is refused if it names %s', async (_name, changes) => {
    await expectRefusal('invalid', changes);
  });

  it('may omit optional answers', async () => {
    const part = await makePart(lab, { answers: {}, content: { elements: [told] } });
    expect(await lab.one.acceptSubmission(part)).toMatchObject({
      verdict: 'committed',
      id: expect.any(String),
    });
  });
});

describe('a submission id that was used before', () => {
  it('is refused with other content, as a conflict that administrators see, and the first one stands', async () => {
    const count = /^accord_submissions_total\{verdict="refused",reason="conflict"\} (\d+)$/m;
    // The alert does not see the first increment of a new series.
    expect(count.exec(await lab.metrics())?.[1]).toBe('0');
    const part = await makePart(lab);
    const { id } = await lab.one.acceptSubmission(part);
    const changed = { ...part.submission, validity: 'P1Y' };
    const other = { ...part, submission: changed, digest: digestOf(changed) };
    for (const replica of [lab.one, lab.other])
      expect(await replica.acceptSubmission(other)).toEqual({ verdict: 'refused', reason: 'conflict' });
    expect(await lab.one.acceptSubmission(part)).toEqual({ verdict: 'committed', id });
    const warned = lab
      .logs()
      .split('\n')
      .filter((line) => line.includes(part.sid));
    expect(warned.map((line) => JSON.parse(line))).toMatchObject(
      [1, 2].map(() => ({ level: 'warn', address: part.peer.url, id: part.sid })),
    );
    expect(count.exec(await lab.metrics())?.[1]).toBe('2');
  });

  it('is independent of the same id of another peer', async () => {
    const part = await makePart(lab);
    const { id } = await lab.one.acceptSubmission(part);
    const other = await makePart(lab, { sid: part.sid });
    const said = await lab.one.acceptSubmission(other);
    expect(said).toMatchObject({ verdict: 'committed', id: expect.any(String) });
    expect(said.id).not.toBe(id);
  });

  it('stores neither answers nor subjects of refused parts', async () => {
    const subject = `nobody-${randomUUID()}`;
    const part = await makePart(lab, { answers: { [told]: ['MARKED\0ANSWER'] }, submission: { subject } });
    expect((await lab.one.acceptSubmission(part)).verdict).toBe('refused');
    const [row] = await rowsOf<{ all: string }>(
      lab,
      'SELECT s::text AS all FROM transactions.received_parts AS s WHERE sid = $1',
      [part.sid],
    );
    expect(row?.all).not.toContain('MARKED');
    expect(row?.all).not.toContain(subject);
    expect(lab.logs()).not.toContain(subject);
  });
});
