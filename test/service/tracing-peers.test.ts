import { expect, it, onTestFinished } from 'vitest';
import { answerBoth, shareQuestion } from '../security/peers-canary/partners.ts';
import { startTestInstance } from '../support/instances/instance.ts';
import { startEndpoint, subscribe } from '../support/instances/webhook-endpoint.ts';
import { startTraceCollector } from '../support/network/trace-collector.ts';
import { pathsOf } from '../support/network/trace-tree.ts';
import { patience } from '../support/run/patience.ts';

it('a submission is one trace through events, a webhook and the peer that gets an answer', async () => {
  const collector = await startTraceCollector();
  onTestFinished(collector.close);
  const start = async (name: string) => {
    const instance = await startTestInstance({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_SERVICE_NAME: name,
    });
    onTestFinished(instance.stop);
    return instance;
  };
  const [leader, owner] = await Promise.all([start('leader'), start('owner')]);
  const endpoint = await startEndpoint();
  const shown = await shareQuestion(leader, owner);
  const webhook = await subscribe(shown.admin, endpoint.url, ['consent.committed']);
  await answerBoth(leader, shown, { own: 'canary-own', theirs: 'canary-theirs' });

  const submit = await collector.find(
    'submission',
    ({ name, attributes }) =>
      name === 'POST /consents/{txid}/submit' && attributes['http.response.status_code'] === 200,
  );
  const root = 'leader: POST /consents/{txid}/submit';
  const delivery = `${root} > leader: process accord.peer-submissions > leader: deliver peer-submit`;
  const accepted = `${delivery} > leader: PUT > owner: PUT /federation/submissions/{sid}`;
  const expected = [
    root,
    `${root} > leader: process accord.consents`,
    `${root} > leader: deliver webhook > leader: POST`,
    `${accepted} > owner: process accord.consents`,
    `${delivery} > leader: process accord.peer-outcomes`,
  ];
  const paths = () => pathsOf(submit.traceId, collector.spans());
  await expect.poll(paths, patience).toEqual(expect.arrayContaining(expected));

  const [call] = await endpoint.called(1);
  expect(call?.event).not.toHaveProperty('traceparent');
  expect(call?.headers).not.toHaveProperty('traceparent');
  const spans = collector.spans();
  const attempt = spans.find(({ name }) => name === 'deliver webhook');
  expect(attempt?.attributes).toEqual({ 'accord.service': 'webhooks', 'accord.webhook.id': webhook.id });
  const ofPeer = spans.find(({ name }) => name === 'deliver peer-submit');
  expect(ofPeer?.attributes).toEqual({
    'accord.service': 'peers',
    'accord.peer.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
}, 120_000);
