import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { sendForm } from '../support/console/sent-form.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';

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
});
