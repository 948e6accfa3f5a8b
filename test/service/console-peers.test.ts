import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { sendForm } from '../support/console/sent-form.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';

let clinic: TestInstance;
let lab: TestInstance;
let admin: ConsolePages;
beforeAll(async () => {
  clinic = await startTestInstance({ INSTANCE_NAME: 'Lakeside Clinic' });
  lab = await startTestInstance({ INSTANCE_NAME: 'Northern Lab' });
  admin = await openPages(clinic, 'admin');
});
afterAll(() => Promise.all([admin?.close(), clinic?.stop(), lab?.stop()]));

const here = '/console/integration/peers';
const textOf = async (path: string) => (await admin.get(path)).text();
const locationOf = (response: Response) => response.headers.get('location') ?? '';

/** Pairs with the lab by the form of the console. @returns the page of the peer. */
async function pair(): Promise<string> {
  const { key } = await createKey(lab, 'for the clinic', 'PEER');
  const paired = await admin.fill(`${here}/new`, { url: lab.url, apiKey: key });
  expect(locationOf(paired)).toMatch(/done=paired$/);
  return locationOf(paired).replace('?done=paired', '');
}

describe('a peer in the console', () => {
  it('is paired, shows its catalogue and thumbprints, is changed, and is ended after its host was typed', async () => {
    const path = await pair();
    const shown = await textOf(path);
    const keys = [...clinic.secrets.instanceSigning, ...lab.secrets.instanceSigning];
    for (const { kid } of keys) expect(shown).toContain(kid);
    expect(shown).toContain('Catalogue read');
    expect(shown).toMatch(/Keys compared<\/dt><dd><bdi>Not yet/);
    const thumbprints = /name="thumbprints" value="([^"]+)"/.exec(shown)?.[1] ?? '';
    expect(thumbprints).toBe(lab.secrets.instanceSigning.map(({ kid }) => kid).join(' '));
    const recorded = await admin.fill(`${path}/confirm-keys`, { thumbprints });
    expect(locationOf(recorded)).toBe(`${path}?done=keysConfirmed`);
    expect(await textOf(path)).toMatch(/Keys compared<\/dt><dd><time/);
    expect(await textOf(`${here}?format=csv`)).toContain(`Northern Lab,${lab.url},PAIRED`);
    await admin.fill(path, { subjectPrefix: 'lab/', erasure: 'FOLLOW' });
    expect(await textOf(path)).toMatch(/value="lab\/"[\s\S]*value="FOLLOW" checked/);

    const clinicAdmin = await signIn(clinic, 'admin');
    const { host } = new URL(lab.url);
    const made = await clinicAdmin.send('POST', '/models', {
      type: 'layout',
      key: 'with.lab',
      name: 'With lab',
    });
    const { id } = (await made.json()) as { id: string };
    const data = { en: { type: 'layout', elements: [`processing.001@${host}`] } };
    const content = { defaultLanguage: 'en', data };
    expect((await clinicAdmin.send('POST', `/models/${id}/versions?incomplete=true`, content)).ok).toBe(true);
    const asked = await textOf(`${path}/end`);
    expect(asked).toContain('This form contains elements of it:');
    expect(asked).toContain('href="/console/forms/with.lab"');
    expect((await admin.fill(`${path}/end`, { host: 'another.example' })).status).toBe(422);
    expect(locationOf(await admin.fill(`${path}/end`, { host }))).toBe(`${here}?done=peerEnded`);
    expect(await textOf(here)).toContain('There is no peer yet.');
  });

  it.each([
    ['fr', 'C’est une clé de portée Propriétaire'],
    ['en', 'This is a key of scope Owner'],
  ])('refuses a key that is not for pairing, in words of the page (%s)', async (language, words) => {
    const { key } = await createKey(lab, 'a mistake', 'OWNER');
    const page = await admin.get(`${here}/new`);
    expect(page.status).toBe(200);
    const refused = await admin.fill(`${here}/new`, { url: lab.url, apiKey: key }, language);
    expect(refused.status).toBe(422);
    const html = await refused.text();
    expect(html).toContain(words);
    expect(html).not.toMatch(/scope OWNER/);
  });

  it('may be the only one with which an element is shared', async () => {
    const path = await pair();
    const peer = path.split('/').at(-1) ?? '';
    const element = '/console/elements/processing.001';
    const name = { name: 'Letter', description: '', shared: 'yes' };
    await admin.fill(`${element}/name`, { ...name, sharedWith: peer });
    const clinicAdmin = await signIn(clinic, 'admin');
    const read = async () => {
      const stored = await (await clinicAdmin.get('/models/serials/processing.001')).json();
      return (stored as { sharedWith: string[] }).sharedWith;
    };
    expect(await read()).toEqual([peer]);
    expect(await textOf(`${element}/name`)).toMatch(new RegExp(`value="${peer}" checked`));
    expect(await textOf('/console/elements?shared=true')).toContain('processing.001');
    expect(await textOf('/console/elements?shared=false')).not.toContain('/elements/processing.001"');
    expect(await textOf(`${element}/archive`)).toContain('Northern Lab cannot use it any more.');
    const edit = `${element}/edit`;
    await sendForm(admin, { path: edit, html: await textOf(edit) }, [['op', 'save']]);
    expect(await textOf(`${element}/activate`)).toContain('Forms of Northern Lab, which fetch it');
    await admin.fill(`${element}/name`, name);
    expect(await read()).toEqual([]);
  });

  it('has signed a receipt if a pinned key of it fits, which is computed from the keys that are given', async () => {
    if (!/peers\/[0-9a-f-]{36}"/.test(await textOf(here))) await pair();
    const shop = await signIn(lab, 'operator');
    const question = 'element/processing/processing.001/1.0';
    const { id } = await recordAnswers(shop, 'ann', { [question]: ['accepted'] });
    const jws = await (await shop.get(`/receipts/${id}?format=jose`)).text();
    const keysOf = async ({ url }: TestInstance) => (await fetch(`${url}/.well-known/accord`)).text();
    const verify = async (keys: string, text = jws, by = admin) =>
      (await by.post('/console/receipts', { jws: text, keys })).text();
    for (const keys of ['', 'no keys', '{"keys":[{}]}', await keysOf(clinic)])
      expect(await verify(keys)).toContain('The public keys of the peer are needed');
    // A key that only says that it is the pinned one.
    const pinned = (JSON.parse(await keysOf(lab)) as { jwks: { keys: { kid: string; use: string }[] } }).jwks
      .keys;
    const own = JSON.parse(await keysOf(clinic)) as { jwks: { keys: object[] } };
    const kid = pinned.find(({ use }) => use === 'sig')?.kid;
    const posing = own.jwks.keys.map((key) => ({ ...key, kid }));
    expect(await verify(JSON.stringify({ keys: posing }))).toContain(
      'The public keys of the peer are needed',
    );

    const genuine = await verify(await keysOf(lab));
    expect(genuine).toContain('The receipt is a genuine one of a peer');
    expect(genuine).toContain('Northern Lab');
    expect(genuine).toContain(id);
    expect(genuine).not.toContain(`/console/transactions/${id}`);
    const [header, , signature] = jws.split('.');
    const forged = [header, Buffer.from('{"subject":"bert"}').toString('base64url'), signature].join('.');
    expect(await verify(await keysOf(lab), forged)).toContain('The receipt was changed');
    const operator = await openPages(clinic, 'operator');
    onTestFinished(operator.close);
    expect(await verify(await keysOf(lab), jws, operator)).toContain('Nobody known here has signed it');
  });
});
