import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '#lib/observability/logger.ts';
import { createOtlpTracing } from '#lib/observability/otlp-tracing.ts';
import { signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { startTraceCollector, type TraceCollector } from '../support/network/trace-collector.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { patience } from '../support/run/patience.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

const running: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.stop();
});

async function startCollector(options?: Parameters<typeof startTraceCollector>[0]): Promise<TraceCollector> {
  const collector = await startTraceCollector(options);
  running.push({ stop: collector.close });
  return collector;
}

async function startInstance(environment: Record<string, string>): Promise<TestInstance> {
  const instance = await startTestInstance(environment);
  running.push(instance);
  return instance;
}

describe('an instance with a collector', () => {
  it('exports a span of each request, with the path of the contract and the status', async () => {
    const collector = await startCollector();
    const instance = await startInstance({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/base/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20abc, X-Tenant=a',
      OTEL_SERVICE_NAME: 'theatre',
    });
    const operator = await signIn(instance, 'operator');
    const made = await createTransaction(operator);
    await operator.get(`/consents/${made.id}`);
    const span = await collector.find('GET /consents/{txid}', ({ name }) => name === 'GET /consents/{txid}');
    expect(span).toMatchObject({ kind: 'server', process: 'theatre', parentId: '', failed: false });
    expect(span.attributes).toEqual({
      'accord.service': 'transactions',
      'accord.operation': 'getTransaction',
      'http.request.method': 'GET',
      'http.route': '/consents/{txid}',
      'http.response.status_code': 200,
    });
    expect(Number(span.end - span.start)).toBeGreaterThan(0);
    expect(Math.abs(Number(span.start / 1_000_000n) - Date.now())).toBeLessThan(60_000);
    expect(collector.requests[0]).toMatchObject({
      path: '/base/v1/traces',
      headers: {
        authorization: 'Bearer abc',
        'x-tenant': 'a',
        'content-type': 'application/x-protobuf',
      },
    });
  });

  it('lets a caller choose neither a trace nor that it is sampled', async () => {
    const collector = await startCollector();
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
    const unsampled = await startInstance({
      ...environment,
      OTEL_TRACES_SAMPLER_ARG: '0',
      OTEL_SERVICE_NAME: 'unsampled',
    });
    const sampled = await startInstance(environment);
    const headers = { traceparent: `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01` };
    for (let count = 0; count < 20; count += 1) await unsampled.fetch('/models', { headers });
    await sampled.fetch('/models', { headers });
    const span = await collector.find('GET /models', ({ name }) => name === 'GET /models');
    expect(span).toMatchObject({ process: 'accord', parentId: '' });
    expect(span.traceId).not.toBe('c'.repeat(32));
    // It exports what is left when it stops.
    await unsampled.stop();
    running.splice(running.indexOf(unsampled), 1);
    expect(collector.spans().filter(({ process }) => process === 'unsampled')).toEqual([]);
  });

  it('answers as fast while the collector does not, and logs that once', async () => {
    const collector = await startCollector({ answers: false });
    const instance = await startInstance({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint });
    const operator = await signIn(instance, 'operator');
    await expect
      .poll(async () => {
        await operator.get('/models');
        return collector.requests.length;
      }, patience)
      .toBeGreaterThan(0);
    const began = performance.now();
    for (let count = 0; count < 50; count += 1) expect((await operator.get('/models')).status).toBe(200);
    // An export waits for ten seconds.
    expect(performance.now() - began).toBeLessThan(9_000);
    await expect.poll(() => failures(instance.logs()), patience).toBe(1);
  });
});

/** Has a process say which libraries of OpenTelemetry it loads; prom-client loads the API. */
const reportLibraries = `
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve(name, context, next) {
      if (name.startsWith('@opentelemetry')) process.stderr.write('loads ' + name + '\\n');
      return next(name, context);
    },
  });`;

const failures = (logs: string) => logs.split('failed to export traces').length - 1;

describe('a collector that is away', () => {
  it('costs a bounded amount of memory and one line of the log, until it is back', async () => {
    const lines: string[] = [];
    const log = createLogger({ destination: { write: (line: string) => lines.push(line) } as never });
    const away = await startTraceCollector();
    await away.close();
    const tracing = createOtlpTracing({
      endpoint: away.endpoint,
      headers: {},
      serviceName: 'test',
      ratio: 1,
      log,
      exportMs: 50,
    });
    running.push(tracing);
    const startSpans = () => {
      for (let count = 0; count < 20_000; count += 1)
        tracing.start({ name: 'a span', kind: 'internal' }).end({});
    };
    startSpans();
    await expect.poll(() => failures(lines.join('')), patience).toBe(1);
    startSpans();
    const began = performance.now();
    await tracing.stop();
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(failures(lines.join(''))).toBe(1);
    expect(lines.join('')).toContain('ECONNREFUSED');
  });
});

describe('an instance without a collector', () => {
  it('does not even load the library that could connect to one', async () => {
    const database = await createTestDatabase();
    const folder = await temporaryFolder();
    const start = async (endpoint: string) => {
      const child = startStandalone({
        DATABASE_URL: database.url,
        DATA_DIR: folder,
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        OTEL_TRACES_SAMPLER_ARG: '1',
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(reportLibraries)}`,
      });
      await child.ready;
      return (await child.stop()).errors;
    };
    const collector = await startCollector();
    expect(await start('')).not.toMatch(/loads @opentelemetry.(sdk|exporter|otlp)/);
    expect(await start(collector.endpoint)).toMatch(/loads @opentelemetry.(sdk|exporter|otlp)/);
    await database.drop();
  });
});
