import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLocal } from '../../services/console/rooms/forms/address.ts';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();
const caller: Caller = useSetup(() => signIn(instance, 'admin'));
let admin: ConsolePages;
let operator: ConsolePages;
beforeAll(async () => {
  admin = await openPages(instance, 'admin');
  operator = await openPages(instance, 'operator');
});
afterAll(() => Promise.all([admin, operator].map((each) => each?.close())));

const content = { type: 'layout', elements: ['processing.001'], submitText: 'Send' };

/** A form that is active, in two languages. @returns its pages in the console, and its key. */
async function makeForm() {
  const french = { ...content, submitText: 'Envoyer' };
  const { id, key } = await makeLiveModel(caller, 'layout', { en: content, fr: french });
  return { id, key, path: `/console/forms/${key}/address` };
}

const textOf = async (path: string, by = admin) => (await by.get(path)).text();
const open = async (key: string) => {
  const response = await instance.fetch(`/f/${key}`, { headers: { Accept: 'text/html' } });
  return { status: response.status, text: await response.text() };
};

it.each([
  ['http://localhost:8080', true],
  ['http://accord.localhost', true],
  ['http://127.0.0.1:8080', true],
  ['http://[::1]:8080', true],
  ['https://consent.example.org', false],
  ['https://localhost.example.org', false],
])('the address %s opens on its own computer alone: %s', (url, expected) => {
  expect(isLocal(url)).toBe(expected);
});

describe('the address of a form in the console', () => {
  it('is switched on with what it means, changed, and switched off', async () => {
    const { key, path } = await makeForm();
    const before = await textOf(path);
    expect(before).toContain('everybody who knows it can answer the form');
    expect(before).toContain('You do not learn it either');
    expect(before).not.toContain('poster.pdf');
    expect((await open(key)).status).toBe(404);
    const on = await admin.post(path, { identify: 'ANONYMOUS', until: '' });
    expect(on.headers.get('location')).toBe(`${path}?done=addressOn`);
    const after = await textOf(`${path}?done=addressOn`);
    expect(after).toContain(`${instance.url}/f/${key}`);
    expect(after).toContain('The address is on.');
    expect(after).toContain('Only this computer can open this address.');
    expect((await open(key)).text).toContain('Go to the form');
    await admin.post(path, { identify: 'SIGN_IN', until: '2035-01-31' });
    expect(plainSpaces((await open(key)).text)).toContain('31 January 2035');
    const off = await admin.post(`${path}/off`, {});
    expect(off.headers.get('location')).toBe(`${path}?done=addressOff`);
    expect((await open(key)).status).toBe(404);
  });

  it('keeps everything else of the form, in each language, and asks nobody again', async () => {
    const { id, path } = await makeForm();
    await admin.post(path, { identify: 'EMAIL', until: '2035-01-31' });
    const model = (await (await caller.get(`/models/${id}`)).json()) as {
      versions: { id: string; status: string; serial: string; type: string }[];
    };
    expect(model.versions[0]).toMatchObject({ status: 'ACTIVE', serial: '1.1', type: 'MINOR' });
    const version = await (await caller.get(`/models/${id}/versions/${model.versions[0]?.id}`)).json();
    const address = { identify: 'EMAIL', until: '2035-01-31' };
    expect(version).toMatchObject({
      data: {
        en: { ...content, public: address },
        fr: { ...content, submitText: 'Envoyer', public: address },
      },
    });
  });

  it('gives the QR code and the poster to everybody who may see forms', async () => {
    const { path } = await makeForm();
    await admin.post(path, { identify: 'ANONYMOUS', until: '' });
    const files = { 'qr.svg': 'image/svg+xml', 'qr.png': 'image/png', 'poster.pdf': 'application/pdf' };
    for (const [name, type] of Object.entries(files)) {
      // A PDF may be refused while the machine is busy.
      await until(async () => {
        const file = await operator.get(path.replace(/address$/, name));
        expect(file.headers.get('content-type')).toBe(type);
      });
    }
    const shown = await textOf(path, operator);
    expect(shown).toContain('poster.pdf');
    expect(shown).toContain('Only people who may activate forms can change the address.');
    expect((await operator.post(path, { identify: 'EMAIL', until: '' })).status).toBe(409);
  });

  it('waits for a draft, which would become active with it, and names a missing choice and a wrong day', async () => {
    const { id, path } = await makeForm();
    expect(await (await admin.post(path, { until: '' })).text()).toContain('href="#field-identify');
    const wrong = await admin.post(path, { identify: 'EMAIL', until: '2035-02-31' });
    expect(wrong.status).toBe(422);
    expect(await wrong.text()).toContain('href="#field-until"');
    await caller.send('POST', `/models/${id}/versions`, { defaultLanguage: 'en', data: { en: content } });
    expect(await textOf(path)).toContain('The form has a draft.');
    expect((await admin.post(path, { identify: 'EMAIL', until: '' })).status).toBe(409);
  });
});
