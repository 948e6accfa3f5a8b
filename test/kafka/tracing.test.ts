import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerBoth, type Shown, shareQuestion } from '../security/peers-canary/partners.ts';
import {
  type DistributedInstance,
  startDistributedInstance,
} from '../support/instances/distributed-instance.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { startTraceCollector, type TraceCollector } from '../support/network/trace-collector.ts';
import { pathsOf } from '../support/network/trace-tree.ts';
import { patience } from '../support/run/patience.ts';
import { brokers } from '../support/stores/kafka.ts';

const [own, theirs, subject] = ['canary-own-4c1d', 'canary-theirs-77ab', 'alice'];
const submit = 'accord-transactions: POST /consents/{txid}/submit';

describe.runIf(brokers)('a submission at separate services that asks a peer, too', () => {
  let collector: TraceCollector;
  let leader: DistributedInstance;
  let owner: TestInstance;
  let shown: Shown;
  let made: { id: string; token: string };
  let traceId: string;
  beforeAll(async () => {
    collector = await startTraceCollector();
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
    [leader, owner] = await Promise.all([
      startDistributedInstance({
        replicas: 1,
        kafkaBrokers: brokers as string,
        environment: { ...environment, OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128' },
      }),
      startTestInstance({ ...environment, OTEL_SERVICE_NAME: 'owner' }),
    ]);
    shown = await shareQuestion(leader, owner);
    made = await answerBoth(leader, shown, { own, theirs });
    const isSubmit = ({ kind, attributes }: { kind: string; attributes: Record<string, unknown> }) =>
      kind === 'server' &&
      attributes['accord.operation'] === 'submitAnswers' &&
      attributes['http.response.status_code'] === 200;
    ({ traceId } = await collector.find('submission', isSubmit));
  }, 180_000);
  afterAll(async () => {
    await leader?.stop();
    await owner?.stop();
    await collector?.close();
  });

  it('is one trace, through every service, Kafka and the peer', async () => {
    const attempt = `${submit} > accord-peers: process accord.peer-submissions > accord-peers: deliver peer-submit`;
    const call = 'accord-peers: POST /internal/transactions/readSubmissions';
    const expected = [
      submit,
      `${submit} > accord-transactions: POST /internal/forms/checkAnswers > accord-forms: POST /internal/forms/checkAnswers`,
      `${submit} > accord-transactions: send accord.consents`,
      `${submit} > accord-transactions: send accord.peer-submissions`,
      `${submit} > accord-webhooks: process accord.consents`,
      `${attempt} > ${call} > accord-transactions: POST /internal/transactions/readSubmissions`,
      `${attempt} > accord-peers: PUT > owner: PUT /federation/submissions/{sid}`,
      `${attempt} > accord-peers: send accord.peer-outcomes`,
      `${attempt} > accord-transactions: process accord.peer-outcomes`,
    ];
    await expect
      .poll(() => pathsOf(traceId, collector.spans()), patience)
      .toEqual(expect.arrayContaining(expected));
  });

  it('leaves in the exported spans no answer, subject, token or id', () => {
    expect(collector.spans().length).toBeGreaterThan(50);
    const secrets = [
      own,
      theirs,
      subject,
      made.token,
      made.id,
      leader.url,
      owner.url,
      shown.own,
      shown.theirs,
    ];
    for (const secret of secrets) expect(collector.bytes()).not.toContain(secret);
    const names = collector.spans().flatMap(({ attributes }) => Object.keys(attributes));
    expect([...new Set(names)].filter((name) => !allowed.has(name))).toEqual([]);
  });
});

/** The attributes of docs/operations.md, "Traces". */
const allowed = new Set([
  ...['http.request.method', 'http.route', 'http.response.status_code', 'error.type'],
  ...['accord.service', 'accord.operation', 'accord.event.type', 'accord.peer.id', 'accord.webhook.id'],
  'messaging.destination.name',
]);
