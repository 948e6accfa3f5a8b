import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { sql } from '#lib/db/sql.ts';
import { type FormsService, startForms } from '../support/instances/forms-service.ts';
import { keepCatalogue, samplePeer, sharedEntry, sharedInformation } from '../support/peers/peer-entries.ts';

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms();
});
afterAll(() => forms?.stop());

const lab = samplePeer();
const id = randomUUID();
const report = (peers: { ids: string[]; urls: string[] }) =>
  forms.operations.setKnownPeers({ choices: [], asOf: new Date().toISOString(), ...peers });
async function listed() {
  const list = (await (await forms.send('/models/peers')).json()) as object;
  return (list as components['schemas']['PeerModels']).values;
}

it('the elements that peers share are listed by peer, with their references', async () => {
  expect(await listed()).toEqual([]);
  await keepCatalogue(forms, lab, [
    sharedInformation,
    sharedEntry(),
    sharedEntry({ key: 'a.study', serial: '2.1' }),
  ]);
  await report({ ids: [], urls: [] });
  expect(await listed()).toEqual([]);
  await report({ ids: [id], urls: [lab.url] });
  const facts = { type: 'processing', name: 'A study', availableLanguages: ['en'] };
  const element = (key: string, serial: string) => {
    const reference = `${key}@lab.example:8443`;
    return { reference, identifier: `element/processing/${reference}/${serial}`, ...facts };
  };
  expect(await listed()).toEqual([
    {
      id,
      url: lab.url,
      name: 'Northern Lab',
      readDate: expect.any(Number),
      stale: false,
      elements: [element('a.study', '2.1'), element('study', '1.0')],
    },
  ]);
});

it('a copy that is too old is stale', async () => {
  await forms.db.query(sql`UPDATE peers SET as_of = as_of - interval '31 days'`);
  expect((await listed()).map(({ stale }) => stale)).toEqual([true]);
});

it('a peer without elements is listed, and a peer whose pairing has ended is not', async () => {
  await keepCatalogue(forms, lab, []);
  expect((await listed()).map(({ elements }) => elements)).toEqual([[]]);
  await forms.operations.forgetPeer({ url: lab.url });
  expect(await listed()).toEqual([]);
});
