import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createLogger } from '#lib/observability/logger.ts';
import { startTestInstance } from '../support/instances/instance.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { startTraceCollector, type TraceCollector } from '../support/network/trace-collector.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';
import { openDatabase } from './canaries/broken-database.ts';
import { createCanaries } from './canaries/canaries.ts';
import { makeMistakes, meetFailures, showBadCredentials } from './canaries/failing-flows.ts';
import { beginWalk, walkAsAdmin, walkAsClient, walkInBrowser } from './canaries/flows.ts';
import { createRecorder, type Seen } from './canaries/recorder.ts';
import { walkWithWebhooks } from './canaries/webhook-flow.ts';

/** An instance that logs all it ever logs. */
interface Target {
  url: string;
  databaseUrl: string;
  /** All that it has said. */
  said(): string;
  stop(): Promise<unknown>;
}

async function inThisProcess(environment: Record<string, string>): Promise<Target> {
  const instance = await startTestInstance(environment);
  return { ...instance, said: instance.logs };
}

async function inAProcessOfItsOwn(environment: Record<string, string>): Promise<Target> {
  const database = await createTestDatabase();
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-test-'));
  const settings = { DATABASE_URL: database.url, DATA_DIR: folder, LOG_LEVEL: 'info' };
  const child = startStandalone({ ...settings, ...environment });
  return {
    url: await child.ready,
    databaseUrl: database.url,
    said: child.said,
    async stop() {
      await child.stop();
      await database.drop();
      await rm(folder, { recursive: true });
    },
  };
}

describe.each([
  { where: 'in this process', start: inThisProcess },
  { where: 'in a process of its own', start: inAProcessOfItsOwn },
])('what callers and subjects tell an instance $where', ({ start }) => {
  const canaries = createCanaries();
  let target: Target;
  let collector: TraceCollector;
  let events: string;
  let stored: string;
  let seen: Seen[];

  beforeAll(async () => {
    collector = await startTraceCollector();
    target = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint });
    const database = await openDatabase(target.databaseUrl);
    await database.copyEvents();
    const recorder = createRecorder(target.url, { strict: true });
    const walk = await beginWalk(target.url, recorder, canaries);
    for (const flow of [
      walkInBrowser,
      walkAsClient,
      walkAsAdmin,
      walkWithWebhooks,
      showBadCredentials,
      makeMistakes,
    ])
      await flow(walk);
    events = await database.events();
    stored = await database.everything();
    const failures = await meetFailures(walk, target.url, [
      database.complainOfEverything,
      database.hideTables,
      () => database.shut(inject('postgres').adminUrl),
    ]);
    seen = [...recorder.seen, ...failures];
    await database.end();
  }, 90_000);
  afterAll(async () => {
    await target?.stop();
    await collector?.close();
  });

  const problems = () => seen.filter(({ type }) => type.startsWith('application/problem+json'));
  const pages = () => seen.filter(({ type, status }) => type.startsWith('text/html') && status >= 400);

  it('is planted in every field, and every sink is searched', () => {
    expect(canaries.count()).toBeGreaterThan(150);
    expect(target.said().split('\n').length).toBeGreaterThan(seen.length / 2);
    expect(events.split('\n').length).toBeGreaterThan(10);
    expect(problems().length).toBeGreaterThan(40);
    expect(pages().length).toBeGreaterThan(10);
    for (const status of [400, 401, 404, 405, 406, 409, 415, 422, 500, 503])
      expect(seen.map((each) => each.status)).toContain(status);
    expect(canaries.findIn(stored)).toContain('comment');
  });

  it('is not in the log', () => {
    expect(canaries.findIn(target.said())).toEqual([]);
    expect(target.said()).not.toMatch(/[?&]t=|eyJ[\w-]{10}|acc_[0-9a-f]{32}/);
  });

  it('is not in exported traces', async () => {
    await collector.find(
      'failed request',
      ({ attributes }) => attributes['http.response.status_code'] === 500,
    );
    const spans = collector.spans();
    expect(spans.length).toBeGreaterThan(100);
    expect(new Set(spans.map(({ kind }) => kind))).toEqual(
      new Set(['server', 'consumer', 'internal', 'client']),
    );
    expect(canaries.findIn(collector.bytes())).toEqual([]);
    // Ids are bytes, which may look like anything.
    const texts = JSON.stringify(spans.map(({ name, attributes }) => [name, attributes]));
    expect(texts).not.toMatch(/[?&]t=|eyJ[\w-]{10}|acc_[0-9a-f]{32}|https?:|@/);
  });

  it('is not in events', () => {
    expect(canaries.findIn(events)).toEqual([]);
  });

  it('is not in the texts of problems, except for the key of a model', () => {
    for (const { body, request } of problems()) {
      const {
        title,
        detail,
        errors = [],
      } = JSON.parse(body) as { title: string; detail: string; errors?: { detail: string }[] };
      const told = canaries.findIn([title, detail, ...errors.map((each) => each.detail)].join('\n'));
      expect(
        told.filter((name) => name !== 'unknown layout'),
        request,
      ).toEqual([]);
      expect(canaries.findSecretsIn(body), request).toEqual([]);
    }
  });

  it('is not markup on an error page, and no secret is on one', () => {
    for (const { body, request } of pages()) {
      expect(canaries.findMarkupIn(body), request).toEqual([]);
      expect(canaries.findSecretsIn(body), request).toEqual([]);
    }
  });

  it('is in no header, except where the interface defines it', () => {
    // The token of the link, who may embed the page, and the address of a new subject.
    const meant =
      /(?<=^location: .*)\?t=\S+|(?<=; frame-ancestors 'self') https:\S+|(?<=^location: .*\/subjects\/)\S+/gm;
    for (const { headers, request } of seen)
      expect(canaries.findIn(headers.replaceAll(meant, '')), `${request}\n${headers}`).toEqual([]);
  });

  it('is not in the database if it is a secret', () => {
    expect(canaries.findSecretsIn(stored)).toEqual([]);
  });
});

describe('a canary', () => {
  const canaries = createCanaries();
  const value = canaries.plant('a secret');

  it('is found in plain text and in base64', () => {
    const inside = (before: string) => Buffer.from(`${before}${value}!`).toString('base64');
    for (const text of [
      `x${value}y`,
      value.toUpperCase(),
      inside(''),
      inside('1'),
      inside('12'),
      inside('123'),
    ])
      expect(canaries.findIn(text), text).toEqual(['a secret']);
    expect(canaries.findIn('kanari')).toEqual([]);
  });

  it('is found in the log if it is written there', () => {
    let said = '';
    const log = createLogger({
      destination: {
        write: (text: string) => {
          said += text;
          return true;
        },
      } as unknown as NodeJS.WritableStream,
    });
    log.info('a line', { id: value });
    expect(canaries.findIn(said)).toEqual(['a secret']);
  });
});
