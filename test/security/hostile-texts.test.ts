import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readContract } from '../support/contract/contract.ts';
import { resolve } from '../support/contract/contract-paths.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';
import { type Operation, operations, prepare } from './authorisation/cells.ts';
import type { Credential } from './authorisation/credentials.ts';
import { createResources, type Resources } from './authorisation/resources.ts';
import { bodyFields, contentFields, withText } from './hostile-texts/fields.ts';
import { startWatchedProcess, type WatchedProcess } from './hostile-texts/process-under-test.ts';
import { sendEach } from './hostile-texts/send-each.ts';
import { encodedTexts, hostileTexts, shareOf } from './hostile-texts/texts.ts';

let watched: WatchedProcess;
beforeAll(async () => {
  watched = await startWatchedProcess();
}, 120_000);
afterAll(() => watched?.stop());

const document = readContract();
const patienceMs = 10 * 60_000;
/** Node.js takes 16 KiB of an address with all headers. */
const addressBytes = 12_000;

async function send(address: string, init: RequestInit): Promise<number> {
  const response = await fetch(new URL(address, watched.instance.url), { ...init, redirect: 'manual' });
  await response.arrayBuffer();
  return response.status;
}

/** Anew for each test, because access tokens last 5 minutes. */
async function withAdmin<T>(work: (credential: Credential, resources: Resources) => Promise<T>): Promise<T> {
  const { headers } = await signIn(watched.instance, 'admin');
  const resources = await createResources(watched.instance, signIn);
  try {
    return await work({ name: 'an admin', roles: ['admin', 'operator', 'user'], headers }, resources);
  } finally {
    await resources.partner.close();
  }
}

const bytesOf = ({ contract }: Operation) =>
  ((contract as { 'x-body-limit'?: number })['x-body-limit'] ?? 64 * 1024) - 2_000;

/**
 * Members whose fields another test covers: the same code reads a context in all operations that take one,
 * and the content of models has a test of its own. One field of each shows that they are read.
 */
const coveredElsewhere: Readonly<Record<string, string>> = {
  createSingleStepTransaction: 'context',
  importModel: 'versions',
  createVersion: 'data',
  updateVersion: 'data',
  previewVersion: 'data',
};

function fieldsOf({ operationId, contract }: Operation) {
  const fields = bodyFields(contract.requestBody);
  const isCovered = ([member]: readonly string[]) => member === coveredElsewhere[operationId];
  return [...fields.filter((field) => !isCovered(field)), ...fields.filter(isCovered).slice(0, 1)];
}

const withBodies = operations
  .map((operation) => ({ operation, fields: fieldsOf(operation) }))
  .filter(({ fields }) => fields.length > 0)
  .map((each) => ({ ...each, operationId: each.operation.operationId }));

describe('no text in a body blocks other requests', () => {
  it.each(withBodies)(
    '$operationId',
    ({ operation, fields }) =>
      withAdmin(async (credential, resources) => {
        const renew = () => prepare({ operation, credential, relation: 'own' }, resources);
        for (const [position, field] of fields.entries()) {
          let { address, init } = await renew();
          const texts = shareOf(hostileTexts, { turn: position, of: Math.min(4, fields.length) });
          const given = { name: field.join('/'), texts, bytes: bytesOf(operation) };
          const broken = await sendEach(watched, given, async (text) => {
            const body = JSON.stringify(withText(JSON.parse(String(init.body ?? '{}')), field, text));
            const headers = { ...init.headers, 'Content-Type': 'application/json' };
            const status = await send(address, { ...init, headers, body });
            if (status < 300) ({ address, init } = await renew());
            return status;
          });
          expect(broken).toEqual([]);
        }
      }),
    patienceMs,
  );
});

interface Parameter {
  name: string;
  in: 'path' | 'query';
}

const withParameters = operations
  .map((operation) => ({
    operation,
    operationId: operation.operationId,
    parameters: [document.paths[operation.path]?.parameters ?? [], operation.contract]
      .flatMap((each) =>
        Array.isArray(each) ? each : ((each as { parameters?: unknown[] }).parameters ?? []),
      )
      .map((each) => resolve<Parameter>(document, each).value),
  }))
  .filter(({ parameters }) => parameters.length > 0);

describe('no text in a path or query blocks other requests', () => {
  it.each(withParameters)(
    '$operationId',
    ({ operation, parameters }) =>
      withAdmin(async (credential, resources) => {
        const { address, init } = await prepare({ operation, credential, relation: 'own' }, resources);
        for (const [position, { name, in: place }] of parameters.entries()) {
          const texts = shareOf(encodedTexts, { turn: position, of: Math.min(4, parameters.length) });
          const given = { name, texts, bytes: addressBytes };
          const broken = await sendEach(watched, given, (text) => {
            const encoded = encodeURIComponent(text.toWellFormed());
            const url = new URL(address, watched.instance.url);
            if (place === 'query') url.searchParams.set(name, text.toWellFormed());
            else url.pathname = operation.path.replaceAll(/\{(\w+)\}/g, encoded);
            return send(url.href, init);
          });
          expect(broken).toEqual([]);
        }
      }),
    patienceMs,
  );
});

describe('no text in a form post blocks other requests', () => {
  const letter = 'element/processing/processing.001/1.0';
  it.each(['comment', 'info', 'accord-action', 'accord-shown', letter, '*'])('%s', async (field) => {
    const admin = await signIn(watched.instance, 'admin');
    let open = await createTransaction(admin);
    const given = { name: field, texts: encodedTexts, bytes: 1_040_000 };
    const broken = await sendEach(watched, given, async (text) => {
      const named = field === '*' ? { [text]: 'a' } : { [field]: text };
      const body = new URLSearchParams({ [letter]: 'accepted', ...named });
      const status = await send(`/consents/${open.id}/submit?t=${open.token}`, { method: 'POST', body });
      if (status < 400) open = await createTransaction(admin);
      return status;
    });
    expect(broken).toEqual([]);
  });

  it.each(['a&', 'a=%c3%a9&', '%', '%c3%a9a', '&', '='])('consisting only of %s', async (part) => {
    const { id, token } = await createTransaction(await signIn(watched.instance, 'admin'));
    const text = { name: part, of: (bytes: number) => part.repeat(bytes / part.length) };
    const given = { name: 'the body', texts: [text], bytes: 1_040_000 };
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const broken = await sendEach(watched, given, (body) =>
      send(`/consents/${id}/submit?t=${token}`, { method: 'POST', headers, body }),
    );
    expect(broken).toEqual([]);
  });
});

describe('no JSON blocks other requests', () => {
  it.each<[string, (bytes: number) => string]>([
    ['lists', (bytes) => `[${'[],'.repeat(bytes / 3)}[]]`],
    ['empty texts', (bytes) => `[${'"",'.repeat(bytes / 3)}""]`],
    ['brackets', (bytes) => '['.repeat(bytes)],
    [
      'members',
      (bytes) => `{${Array.from({ length: bytes / 12 }, (_, index) => `"k${index}":0`).join()},"z":0}`,
    ],
    [
      'languages',
      (bytes) =>
        `{"type":"theme","name":"a","versions":[{"defaultLanguage":"en","data":{${Array.from({ length: bytes / 14 }, (_, index) => `"l${index}":{}`).join()}}}]}`,
    ],
  ])('consisting only of %s', async (name, of) => {
    const admin = await signIn(watched.instance, 'admin');
    const headers = { ...admin.headers, 'Content-Type': 'application/json' };
    const given = { name, texts: [{ name, of }], bytes: 1_040_000 };
    const broken = await sendEach(watched, given, (body) =>
      send('/models/import', { method: 'POST', headers, body }),
    );
    expect(broken).toEqual([]);
  });
});

describe('no content of a model blocks other requests', () => {
  const types = [
    'information',
    'processing',
    'preference',
    'conditions',
    'email',
    'theme',
    'layout',
  ] as const;

  /**
   * More than any field takes, and about as much as the longest and the shorter ones take. Each field gets
   * each text, and each text has each size in some field.
   */
  const sizes = [1_040_000, 64_000, 14_500];
  async function newModel(admin: Caller, type: string): Promise<string> {
    const made = await admin.send('POST', '/models', { type, name: `A model ${randomUUID()}` });
    return ((await made.json()) as { id: string }).id;
  }

  it.each(types)(
    '%s',
    async (type) => {
      for (const [position, field] of contentFields(type).entries()) {
        const admin = await signIn(watched.instance, 'admin');
        const id = await newModel(admin, type);
        const headers = { ...admin.headers, 'Content-Type': 'application/json' };
        for (const [turn, bytes] of sizes.entries()) {
          const texts = shareOf(hostileTexts, { turn: turn + 2 * position, of: sizes.length });
          const given = { name: field.join('/'), texts, bytes };
          const broken = await sendEach(watched, given, async (text) => {
            const data = withText(sampleContent[type as 'theme'], field, text);
            const body = JSON.stringify({ language: 'en', data });
            const [draft] = (await (await admin.get(`/models/${id}/versions`)).json()) as { id: string }[];
            const content = JSON.stringify({ defaultLanguage: 'en', data: { en: data } });
            if (!draft) return send(`/models/${id}/versions`, { method: 'POST', headers, body: content });
            // Shown as well: it is sanitised again, and drawn.
            await send(`/models/${id}/versions/${draft.id}/preview`, { method: 'POST', headers, body });
            return send(`/models/${id}/versions/${draft.id}`, { method: 'PUT', headers, body: content });
          });
          expect(broken).toEqual([]);
        }
      }
    },
    patienceMs,
  );
});

it(
  'valid content in as many languages as fit blocks no other requests',
  async () => {
    const admin = await signIn(watched.instance, 'admin');
    const headers = { ...admin.headers, 'Content-Type': 'application/json' };
    const tags = (text: string) => `${text.repeat(4_900)}${'x'.repeat(60_000)}`;
    const contents: [string, object][] = [
      ['conditions', { ...sampleContent.conditions, body: tags('<b>') }],
      ['conditions', { ...sampleContent.conditions, body: '<p>a</p>'.repeat(2_450) }],
      ['information', { ...sampleContent.information, header: tags('<i>'), footer: '&'.repeat(19_000) }],
      ['theme', { name: 'A theme', css: 'a{color:red}'.repeat(5_000) }],
    ];
    for (const [type, content] of contents) {
      const most = Math.floor(1_000_000 / JSON.stringify(content).length);
      const data = Object.fromEntries(
        Array.from({ length: Math.min(most, 50) }, (_, index) => [`en-x-${index}`, content]),
      );
      const body = JSON.stringify({ defaultLanguage: 'en-x-0', data });
      const statuses: number[] = [];
      const given = { name: type, texts: [{ name: 'all at once', of: () => body }], bytes: 0 };
      const broken = await sendEach(watched, given, async (text) => {
        const model = await admin.send('POST', '/models', { type, name: 'A model' });
        const { id } = (await model.json()) as { id: string };
        statuses.push(await send(`/models/${id}/versions`, { method: 'POST', headers, body: text }));
        return statuses.at(-1) as number;
      });
      expect(broken).toEqual([]);
      expect(statuses).toContain(201);
    }
  },
  patienceMs,
);

it('answers /livez during all of these requests', () => {
  const { longest, refused } = watched.livez();
  expect(refused).toEqual([]);
  // A busy machine holds up the test itself; what the server does in one go is measured above.
  expect(longest).toBeLessThan(3_000);
});
