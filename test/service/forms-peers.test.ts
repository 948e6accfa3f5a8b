import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CataloguePeer, PeerEntry } from '#lib/contracts/peer-entries.ts';
import { sql } from '#lib/db/sql.ts';
import { Failure } from '#lib/errors/fail.ts';
import { type FormsService, startForms } from '../support/instances/forms-service.ts';
import { keepCatalogue, samplePeer, sharedEntry, sharedInformation } from '../support/peers/peer-entries.ts';
import { makeActive, sampleContent } from '../support/samples/forms-models.ts';

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms();
  const { id } = await makeActive(forms, 'information', sampleContent.information, 'own.information');
  await forms.send(`/models/${id}`, { method: 'PUT', json: { name: 'Own', default: true } });
  await makeActive(forms, 'processing', sampleContent.processing, 'study');
  await makeActive(forms, 'conditions', sampleContent.conditions, 'own.conditions');
}, 60_000);
afterAll(() => forms?.stop());

const lab = samplePeer();
const keep = (entries: PeerEntry[], peer: CataloguePeer = lab) => keepCatalogue(forms, peer, entries);
beforeEach(async () => {
  await forms.operations.forgetPeer({ url: lab.url });
  await keep([sharedInformation, sharedEntry()]);
});

const at = 'lab.example:8443';
const resolve = (elements: string[], more: object = {}) =>
  forms.operations.resolveLayout({ layoutData: { type: 'layout', elements, ...more } });
async function formOf(elements: string[], languages = ['en']) {
  const { layout } = await resolve(elements);
  return forms.operations.describeForm({ layout, languages });
}
async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(Failure);
  return failure as Failure;
}
const letAge = (age: string, url = lab.url) =>
  forms.db.query(sql`UPDATE peers SET as_of = accord_now() - ${age}::interval WHERE url = ${url}`);

describe("a form with a peer's elements", () => {
  it('shows own elements first, then the peer’s, grouped under its name and information', async () => {
    const form = await formOf([`study@${at}`, 'study']);
    expect(form.elements.map(({ identifier, owner, entry }) => [identifier, owner, entry.key])).toEqual([
      ['element/processing/study/1.0', null, 'study'],
      [`element/processing/study@${at}/1.0`, 'Northern Lab', 'study'],
    ]);
    expect(form.peers).toEqual([
      {
        name: 'Northern Lab',
        location: lab.url,
        info: expect.objectContaining({
          identifier: `element/information/about.us@${at}/1.0`,
          owner: 'Northern Lab',
        }),
        elements: [form.elements[1]],
      },
    ]);
    expect(form.active[`study@${at}`]).toEqual({ major: 1, serial: '1.0', deleted: false });
    expect(form.info.owner).toBeNull();
  });

  it('lists the elements of several peers in layout order and groups them by peer', async () => {
    const clinic = samplePeer('https://clinic.example', 'Lakeside Clinic');
    await keep([sharedInformation, sharedEntry({ key: 'care' }), sharedEntry({ key: 'food' })], clinic);
    await keep([sharedInformation, sharedEntry(), sharedEntry({ key: 'trial' })]);
    const form = await formOf([
      'care@clinic.example',
      `study@${at}`,
      'study',
      'food@clinic.example',
      `trial@${at}`,
    ]);
    expect(form.elements.map(({ identifier }) => identifier.split('/')[2])).toEqual([
      'study',
      'care@clinic.example',
      `study@${at}`,
      'food@clinic.example',
      `trial@${at}`,
    ]);
    expect(form.peers.map(({ name, info, elements }) => [name, info?.owner, elements.length])).toEqual([
      ['Lakeside Clinic', 'Lakeside Clinic', 2],
      ['Northern Lab', 'Northern Lab', 2],
    ]);
    await forms.operations.forgetPeer({ url: clinic.url });
  });

  it('does not need an own element', async () => {
    expect((await formOf([`study@${at}`])).elements).toHaveLength(1);
  });

  it('is in the language of the form where the peer has it, else in the peer’s own', async () => {
    const { processing } = sampleContent;
    const data = { sw: processing, fr: { ...processing, title: 'Lettre' } };
    await keep([sharedInformation, sharedEntry({ serial: '1.1', defaultLanguage: 'sw', data })]);
    const [french] = (await formOf([`study@${at}`], ['fr-CA'])).elements;
    expect(french?.content).toMatchObject({ lang: 'fr', title: 'Lettre' });
    const english = await formOf([`study@${at}`], ['en']);
    expect([english.language, english.elements[0]?.content.lang]).toEqual(['en', 'sw']);
    // What only a peer speaks does not make it the form's language.
    expect((await formOf([`study@${at}`], ['sw'])).language).toBe('en');
  });

  it('may be written in blocs with locations; a peer’s information in them is not a question', async () => {
    const { layout } = await resolve([], {
      elements: undefined,
      blocs: [
        { parent: { key: 'study' } },
        {
          parent: { key: 'about.us', location: `${lab.url}/` },
          children: [{ key: 'study', location: lab.url }],
        },
      ],
    });
    expect(layout.elements).toEqual(['study', `study@${at}`]);
  });

  it('treats all spellings of a host as equal, so that no element is asked twice', async () => {
    expect((await resolve(['study@LAB.example:8443'])).layout.elements).toEqual([`study@${at}`]);
    const twice = await failureOf(resolve([`study@${at}`, 'study@Lab.Example:8443']));
    expect(twice).toMatchObject({ code: 'layout-conflict', errors: [{ pointer: '/layoutData/elements/1' }] });
  });
});

describe('a reference in a layout that is not allowed', () => {
  it.each([
    ['of an unknown peer', 'study@nobody.example'],
    ['that the peer does not have', `nothing@${at}`],
    ['that is information', `about.us@${at}`],
    ['of the same host at another port', 'study@lab.example'],
    ['with two hosts', `study@lab.example@${at}`],
    ['with a path', `study@${at}/x`],
    ['with credentials', `study@me:secret@${at}`],
    ['without a host', 'study@'],
    ['without a key', `@${at}`],
  ])('(an element %s) is rejected with a pointer', async (_what, reference) => {
    const failure = await failureOf(resolve(['study', reference]));
    expect(failure).toMatchObject({
      code: 'unknown-element',
      errors: [{ pointer: '/layoutData/elements/1' }],
    });
    expect(failure.errors?.[0]?.detail).toContain(reference);
  });

  it('(a peer’s information as that of the form) is rejected', async () => {
    const failure = await failureOf(resolve(['study'], { info: `about.us@${at}` }));
    expect(failure).toMatchObject({ code: 'unknown-element', errors: [{ pointer: '/layoutData/info' }] });
  });

  it('(conditions beside other elements of any owner) is rejected', async () => {
    await keep([
      sharedInformation,
      sharedEntry({ serial: '2.0', type: 'conditions', data: { en: sampleContent.conditions } }),
    ]);
    expect(await failureOf(resolve(['study', `study@${at}`]))).toMatchObject({ code: 'layout-conflict' });
    expect((await resolve(['own.conditions', `study@${at}`])).layout.elements).toHaveLength(2);
  });

  it('(an element of a peer without information) is rejected with the name of the peer', async () => {
    const { layout } = await resolve(['study', `study@${at}`]);
    await keep([sharedEntry()]);
    const describeIt = () => forms.operations.describeForm({ layout, languages: [] });
    for (const ask of [() => resolve([`study@${at}`]), describeIt])
      expect(await failureOf(ask())).toMatchObject({ code: 'unavailable', members: { peer: lab.url } });
    expect((await formOf(['study'])).elements).toHaveLength(1);
  });

  it('(an element that no peer shares) prevents the activation of a saved layout', async () => {
    await makeActive(forms, 'layout', { type: 'layout', elements: ['study', `study@${at}`] }, 'mixed');
    expect((await forms.operations.resolveLayout({ layout: 'mixed' })).layout.elements).toEqual([
      'study',
      `study@${at}`,
    ]);
    const wrong = makeActive(forms, 'layout', { type: 'layout', elements: [`nothing@${at}`] }, 'wrong');
    await expect(wrong).rejects.toThrow('/data/en/elements/0');
  });
});

describe('a peer’s catalogue', () => {
  it('changes nothing when received again, and keeps former MINORs for forms that show them', async () => {
    const before = await forms.db.query(sql`SELECT v.id FROM peer_versions AS v ORDER BY v.id`);
    await keep([sharedInformation, sharedEntry()]);
    expect(await forms.db.query(sql`SELECT v.id FROM peer_versions AS v ORDER BY v.id`)).toEqual(before);
    await keep([sharedInformation, sharedEntry({ serial: '1.1' })]);
    const serials = sql`SELECT v.minor, v.archived_at IS NULL AS active FROM peer_versions AS v
      JOIN peer_entries AS e ON e.id = v.entry WHERE e.key = 'study' AND e.peer = ${lab.url} ORDER BY v.minor`;
    expect(await forms.db.query(serials)).toEqual([
      { minor: 0, active: false },
      { minor: 1, active: true },
    ]);
    await keep([sharedInformation, sharedEntry({ serial: '2.0' })]);
    expect(await forms.db.query(serials)).toEqual([{ minor: 0, active: true }]);
    expect((await resolve([`study@${at}`])).active[`study@${at}`]?.major).toBe(2);
  });

  it('with other content under a known serial is not stored, so that subjects answer only what they have read', async () => {
    const changed = sharedEntry({ data: { en: { ...sampleContent.processing, title: 'Substituted' } } });
    expect(await keep([sharedInformation, changed])).toEqual(['study']);
    expect(await failureOf(resolve([`study@${at}`]))).toMatchObject({ code: 'unknown-element' });
    // Nor after it was withdrawn; what was there before may come back, and another serial may have other
    // content.
    await keep([sharedInformation]);
    expect(await keep([sharedInformation, changed])).toEqual(['study']);
    expect(await keep([sharedInformation, sharedEntry()])).toEqual([]);
    expect((await formOf([`study@${at}`])).elements[0]?.content).toMatchObject(sampleContent.processing);
    expect(await keep([sharedInformation, { ...changed, serial: '1.1' }])).toEqual([]);
    expect((await formOf([`study@${at}`])).elements[0]?.content).toMatchObject({ title: 'Substituted' });
  });

  it('received concurrently with two contents under one serial is stored once', async () => {
    const titled = (title: string) =>
      sharedEntry({ serial: '1.1', data: { en: { ...sampleContent.processing, title } } });
    const refused = await Promise.all(
      ['One', 'Other', 'One', 'Other'].map((title) =>
        forms.operations.storePeerEntries({ peer: lab, state: 'both', entries: [titled(title)] }),
      ),
    );
    expect(refused.map((each) => each.refused.length).sort()).toEqual([0, 0, 1, 1]);
    const stored = sql`SELECT FROM peer_versions AS v JOIN peer_entries AS e ON e.id = v.entry
      WHERE e.peer = ${lab.url} AND e.key = 'study' AND v.minor = 1`;
    expect(await forms.db.query(stored)).toHaveLength(1);
  });

  it('is checked against a bounded number of former serials', async () => {
    await forms.db.query(sql`
      INSERT INTO peer_serials (peer, key, major, minor, digest, known_at)
      SELECT ${lab.url}, 'old', 1, n, '', accord_now() - n * interval '1 second' FROM generate_series(1, 20000) AS n`);
    await keep([sharedInformation, sharedEntry({ serial: '1.1' })]);
    const [kept] = await forms.db.query<{ all: number; oldest: number; study: number }>(sql`
      SELECT count(*)::int AS all, max(s.minor) FILTER (WHERE s.key = 'old')::int AS oldest,
             count(*) FILTER (WHERE s.key = 'study')::int AS study
        FROM peer_serials AS s WHERE s.peer = ${lab.url}`);
    expect(kept).toEqual({ all: 20_000, oldest: 19_997, study: 2 });
  });

  it('may have the members of its contents in another order', async () => {
    const data = { en: Object.fromEntries(Object.entries(sampleContent.processing).reverse()) };
    expect(await keep([sharedInformation, sharedEntry({ data })])).toEqual([]);
  });

  it('withdraws missing elements once it is complete, and not before', async () => {
    const { layout } = await resolve(['study', `study@${at}`]);
    await forms.operations.storePeerEntries({ peer: lab, state: 'next', entries: [sharedInformation] });
    expect((await forms.operations.describeForm({ layout, languages: [] })).elements).toHaveLength(2);
    const asOf = new Date().toISOString();
    await forms.operations.finishPeerCatalogue({ url: lab.url, state: 'next', asOf });
    const form = await forms.operations.describeForm({ layout, languages: [] });
    expect([form.elements.length, form.peers]).toEqual([1, []]);
    expect(await failureOf(resolve([`study@${at}`]))).toMatchObject({ code: 'unknown-element' });
    await keep([sharedInformation, sharedEntry()]);
    expect((await forms.operations.describeForm({ layout, languages: [] })).elements).toHaveLength(2);
  });

  it('determines the copy, whatever was stored before and in whatever pages it arrives', async () => {
    const version = fc.record({
      key: fc.constantFrom('study', 'trial', 'sleep', 'food'),
      serial: fc.constantFrom('1.0', '1.1', '1.2', '2.0'),
      title: fc.constantFrom('Once', 'Twice'),
    });
    const catalogue = fc.record({
      versions: fc.uniqueArray(version, { selector: ({ key }) => key }),
      portion: fc.integer({ min: 1, max: 4 }),
      finished: fc.boolean(),
    });
    type Drawn = typeof catalogue extends fc.Arbitrary<infer Value> ? Value : never;
    let number = 0;
    const store = async ({ versions, portion, finished }: Drawn) => {
      number += 1;
      const state = `drawn ${number}`;
      const entries = versions.map(({ key, serial, title }) =>
        sharedEntry({ key, serial, data: { en: { ...sampleContent.processing, title } } }),
      );
      for (let from = 0; from === 0 || from < entries.length; from += portion)
        await forms.operations.storePeerEntries({
          peer: lab,
          state,
          entries: entries.slice(from, from + portion),
        });
      if (!finished) return;
      await forms.operations.finishPeerCatalogue({ url: lab.url, state, asOf: new Date().toISOString() });
    };
    const check = async (before: Drawn[], last: Drawn) => {
      await forms.operations.forgetPeer({ url: lab.url });
      // A serial keeps the content that it had first.
      const first = new Map<string, string>();
      for (const { key, serial, title } of [...before, last].flatMap(({ versions }) => versions))
        if (!first.has(`${key} ${serial}`)) first.set(`${key} ${serial}`, title);
      for (const each of before) await store(each);
      await store({ ...last, finished: true });
      const copy = await forms.db.query(sql`
        SELECT e.key, v.major || '.' || v.minor AS serial, v.data -> 'en' ->> 'title' AS title
          FROM peer_entries AS e JOIN peer_versions AS v ON v.id = e.active_version
         WHERE e.peer = ${lab.url} AND v.archived_at IS NULL ORDER BY e.key`);
      const kept = last.versions.filter(({ key, serial, title }) => first.get(`${key} ${serial}`) === title);
      expect(copy).toEqual(kept.toSorted((a, b) => (a.key < b.key ? -1 : 1)));
    };
    await fc.assert(fc.asyncProperty(fc.array(catalogue, { maxLength: 3 }), catalogue, check), {
      numRuns: 25,
    });
  });

  it('that was never received or whose copy was lost is requested again', async () => {
    const finish = (state: string, url = lab.url) =>
      forms.operations.finishPeerCatalogue({ url, state, asOf: new Date().toISOString() });
    expect(await finish('never seen')).toEqual({ held: false });
    expect(await finish('x', 'https://nobody.example')).toEqual({ held: false });
    const held = 'the last one';
    await forms.operations.storePeerEntries({
      peer: lab,
      state: held,
      entries: [sharedInformation, sharedEntry()],
    });
    expect(await finish(held)).toEqual({ held: true });
    await forms.operations.storePeerEntries({ peer: lab, state: 'half', entries: [] });
    expect(await finish(held)).toEqual({ held: false });
    expect((await resolve([`study@${at}`])).layout.elements).toHaveLength(1);
  });

  it('of a removed peer is deleted', async () => {
    const { layout } = await resolve(['study', `study@${at}`]);
    await forms.operations.forgetPeer({ url: lab.url });
    await forms.operations.forgetPeer({ url: lab.url });
    expect((await forms.operations.describeForm({ layout, languages: [] })).peers).toEqual([]);
    expect(await failureOf(resolve([`study@${at}`]))).toMatchObject({ code: 'unknown-element' });
  });
});

describe('an invalid entry of a peer', () => {
  const html = '<img src=x onerror="alert(1)"><script>alert(2)</script><b>bold</b>';
  const { processing, preference, conditions } = sampleContent;
  const cases: [string, Partial<PeerEntry> | Record<string, unknown>][] = [
    ['content without a required member', { data: { en: { title: 'No more' } } }],
    ['content without a language', { data: {} }],
    ['a default language without content', { defaultLanguage: 'fr' }],
    [
      'languages that ask different things',
      { data: { en: processing, fr: { ...processing, refusable: false } } },
    ],
    ['a text that is too long', { data: { en: { ...processing, title: 'x'.repeat(501) } } }],
    ['a list as content', { data: [] as never }],
    ['no serial', { serial: 'latest' }],
    ['the serial 0.1', { serial: '0.1' }],
    ['a key with a host', { key: 'study@elsewhere.example' }],
    ['the key __proto__', { key: '__proto__' }],
    ['the type layout', { type: 'layout', data: { en: { elements: ['study'] } } }],
    ['the type constructor', { type: 'constructor' }],
    ['no name', { name: ' ' }],
    ['a number as name', { name: 7 }],
    ['a preference without options', { type: 'preference', data: { en: { ...preference, options: [] } } }],
  ];
  it.each(cases)('(%s) is not stored; the valid entries are', async (_what, changes) => {
    const wrong = { ...sharedEntry({ key: 'wrong' }), ...changes } as PeerEntry;
    expect(await keep([sharedInformation, wrong, sharedEntry()])).toHaveLength(1);
    expect((await formOf([`study@${at}`])).elements).toHaveLength(1);
    expect(await failureOf(resolve([`wrong@${at}`]))).toMatchObject({ code: 'unknown-element' });
  });

  it('is no longer shown, even if it was valid before', async () => {
    expect(
      await keep([sharedInformation, sharedEntry({ serial: '1.1', data: { en: { title: 'No more' } } })]),
    ).toEqual(['study']);
    expect(await failureOf(resolve([`study@${at}`]))).toMatchObject({ code: 'unknown-element' });
  });

  it('with the key of another one is not stored', async () => {
    expect(await keep([sharedInformation, sharedEntry(), sharedEntry({ serial: '9.0' })])).toEqual(['study']);
    expect((await formOf([`study@${at}`])).elements[0]?.serial).toBe('1.0');
  });

  it('cannot bring scripts into stored content or pages', async () => {
    await keep([
      sharedEntry({
        key: 'about.us',
        type: 'information',
        serial: '1.1',
        data: { en: { title: html, header: html } },
      }),
      sharedEntry({
        serial: '2.0',
        type: 'conditions',
        data: { en: { ...conditions, title: html, body: html } },
      }),
    ]);
    const [stored] = await forms.db.query<{ text: string }>(
      sql`SELECT string_agg(v.data -> 'en' ->> 'body', '') AS text FROM peer_versions AS v`,
    );
    expect(stored?.text).toBe('<b>bold</b>');
  });
});

describe('an old copy', () => {
  it('shows its age after one day and is not shown after 30 days', async () => {
    const { layout } = await resolve(['study', `study@${at}`]);
    const describeIt = () => forms.operations.describeForm({ layout, languages: ['en'] });
    await letAge('23 hours');
    expect((await describeIt()).peers[0]?.asOf).toBeUndefined();
    await letAge('25 hours');
    const { asOf } = (await describeIt()).peers[0] ?? {};
    expect(Date.now() - Date.parse(String(asOf))).toBeGreaterThan(24.9 * 3_600_000);
    await letAge('29 days');
    expect((await describeIt()).elements).toHaveLength(2);
    await letAge('31 days');
    for (const failure of [await failureOf(describeIt()), await failureOf(resolve([`study@${at}`]))]) {
      expect(failure.code).toBe('unavailable');
      expect(failure.message).toContain('Northern Lab');
      expect(failure.headers['Retry-After']).toBeTruthy();
    }
    // Who does not need it is not concerned.
    expect((await formOf(['study'])).elements).toHaveLength(1);
    await keep([sharedInformation, sharedEntry()]);
    expect((await describeIt()).elements).toHaveLength(2);
  });
});

it('rejects a second peer with the same host', async () => {
  const twin = samplePeer('http://lab.example:8443', 'A twin');
  const stored = forms.operations.storePeerEntries({ peer: twin, state: 's', entries: [] });
  expect(await failureOf(stored)).toMatchObject({ code: 'exists' });
});
