import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import {
  deliveryThat,
  startEndpoint,
  subscribe,
  verify,
  webhookOf,
} from '../support/instances/webhook-endpoint.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));

/** Publishes a `key.created` event. */
const publishEvent = () => createKey(instance, 'published as key.created');

describe('a changed webhook', () => {
  it('ignores the response of its former URL', async () => {
    const [former, next] = [await startEndpoint(), await startEndpoint()];
    const open: ServerResponse[] = [];
    former.answer = (_request, response) => void open.push(response);
    const webhook = await subscribe(admin, former.url);
    await publishEvent();
    const [first] = await former.called(1);
    const changed = await admin.send('PUT', `/webhooks/${webhook.id}`, { targetUrl: next.url });
    expect(changed.status).toBe(200);
    open[0]?.writeHead(410).end();
    const [second] = await next.called(1);
    expect(second?.message).toBe(first?.message);
    const delivered = await deliveryThat(admin, webhook, ({ status }) => status === 'DELIVERED');
    expect(delivered).toMatchObject({ attempts: 1, statusCode: 204 });
    const now = await webhookOf(admin, webhook);
    expect(now).toMatchObject({ state: 'ACTIVE' });
    expect(now).not.toHaveProperty('lastError');
  });

  it('is called again once an unreadable secret was replaced', async () => {
    const endpoint = await startEndpoint();
    const webhook = await subscribe(admin, endpoint.url);
    await runInDatabase(instance, `UPDATE webhooks.webhooks SET secret = '\\x00' WHERE id = $1`, [
      webhook.id,
    ]);
    await publishEvent();
    await deliveryThat(admin, webhook, ({ error }) => error === 'The request could not be sent.');
    expect(endpoint.calls).toEqual([]);
    // Only failures of the endpoint count for its pause.
    expect(await webhookOf(admin, webhook)).not.toHaveProperty('lastError');
    const renewed = await admin.send('POST', `/webhooks/${webhook.id}/secret`);
    await publishEvent();
    const [call] = await endpoint.called(1);
    expect(verify((await renewed.json()) as { secret: string }, call as never)).toBeTruthy();
  });
});
