import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, vi } from 'vitest';
import { deliveryFault } from '../contract/delivered-events.ts';
import type { Caller } from './callers.ts';

/** One call of an endpoint. */
export interface EndpointCall {
  /** `webhook-id` */
  message: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read various events
  event: any;
}

/** A webhook endpoint: a real HTTP server that records every request. */
export interface WebhookEndpoint {
  url: string;
  calls: EndpointCall[];
  /** Handles requests; the default responds with 204. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  /** Responds with a status to all further requests. */
  answerWith(status: number, headers?: Record<string, string>): void;
  /** Waits for a number of requests. */
  called(times: number, timeoutMs?: number): Promise<EndpointCall[]>;
}

/** Starts an endpoint that is closed when the test ends. What it receives must be as openapi.yaml says. */
export async function startEndpoint(): Promise<WebhookEndpoint> {
  const faults: string[] = [];
  const server = createServer(async (request, response) => {
    try {
      const body = await text(request);
      const headers = request.headers as Record<string, string>;
      const message = headers['webhook-id'] ?? '';
      const event = JSON.parse(body);
      faults.push(...[deliveryFault(headers, event)].filter((fault) => fault !== undefined));
      endpoint.calls.push({ message, path: request.url ?? '', headers, body, event });
      endpoint.answer(request, response);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    expect(faults).toEqual([]);
  });
  const endpoint: WebhookEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    calls: [],
    answer: (_request, response) => void response.writeHead(204).end(),
    answerWith(status, headers = {}) {
      endpoint.answer = (_request, response) => void response.writeHead(status, headers).end();
    },
    async called(times, timeoutMs = 8_000) {
      await vi.waitFor(
        () => {
          if (endpoint.calls.length < times) throw new Error(`called ${endpoint.calls.length} times`);
        },
        { timeout: timeoutMs, interval: 20 },
      );
      return endpoint.calls;
    },
  };
  return endpoint;
}

export interface LiveWebhook {
  id: string;
  secret: string;
  state: string;
  stateSince: string;
  failingSince?: string;
  lastError?: { at: string; reason: string; statusCode?: number };
}

export interface LiveDelivery {
  id: string;
  action: string;
  sourceId: string;
  status: string;
  statusCode?: number;
  error?: string;
  attempts: number;
  duration?: number;
  redelivery: boolean;
  nextAttemptAt?: string;
  deliveredAt?: string;
}

/** Creates a webhook for an endpoint. */
export async function subscribe(
  caller: Caller,
  targetUrl: string,
  subscribedActions: string[] = ['key.created'],
): Promise<LiveWebhook> {
  const made = await caller.send('POST', '/webhooks', { name: 'shop', targetUrl, subscribedActions });
  return (await made.json()) as LiveWebhook;
}

export async function webhookOf(caller: Caller, { id }: { id: string }): Promise<LiveWebhook> {
  return (await (await caller.get(`/webhooks/${id}`)).json()) as LiveWebhook;
}

export async function deliveriesOf(caller: Caller, { id }: { id: string }): Promise<LiveDelivery[]> {
  return (await (await caller.get(`/webhooks/${id}/deliveries`)).json()) as LiveDelivery[];
}

/** Waits for a delivery of a webhook that satisfies a condition. */
export async function deliveryThat(
  caller: Caller,
  webhook: { id: string },
  wanted: (delivery: LiveDelivery) => boolean,
  timeoutMs = 8_000,
): Promise<LiveDelivery> {
  return vi.waitFor(
    async () => {
      const deliveries = await deliveriesOf(caller, webhook);
      const found = deliveries.find(wanted);
      if (!found) throw new Error(`no such delivery in ${JSON.stringify(deliveries)}`);
      return found;
    },
    { timeout: timeoutMs, interval: 50 },
  );
}

/** Verifies a request with the reference library. @returns its event. @throws WebhookVerificationError */
export function verify({ secret }: { secret: string }, call: EndpointCall): unknown {
  return new Webhook(secret).verify(call.body, call.headers);
}
