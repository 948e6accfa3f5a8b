import { vi } from 'vitest';
import type { Walk } from './flows.ts';

/** Nobody listens there. */
const nobody = 'http://127.0.0.1:9';
/** What is before it is in every secret. */
const bare = (secret: string) => secret.slice('whsec_'.length);

/**
 * A webhook whose address holds a key of its receiver, as many do, and which cannot be reached; then what may
 * not be one.
 */
export async function walkWithWebhooks({ shop, admin, canaries }: Walk): Promise<void> {
  const { plant, keepSecret } = canaries;
  const targetUrl = `${nobody}/${plant('path of the webhook')}?key=${plant('query of the webhook')}`;
  const wanted = { name: plant('name of the webhook'), targetUrl, subscribedActions: ['key.created'] };
  const made = await shop.send('POST', '/webhooks', wanted);
  const { id, secret } = (await made.json()) as { id: string; secret: string };
  keepSecret('secret of the webhook', bare(secret));
  await admin.send('POST', '/keys', { name: plant('name of another key'), scope: 'OWNER' });
  const tried = async () => {
    const [first] = (await (await shop.get(`/webhooks/${id}/deliveries`)).json()) as { error?: string }[];
    if (!first?.error) throw new Error('It has not been tried yet.');
  };
  await vi.waitFor(tried, { timeout: 10_000 });
  const renewed = await shop.send('POST', `/webhooks/${id}/secret`);
  keepSecret('next secret of the webhook', bare(((await renewed.json()) as { secret: string }).secret));
  for (const path of ['/webhooks', `/webhooks/${id}`]) await shop.get(path);
  const address = `http://${plant('user of an address')}:${plant('password of an address')}@shop.example/`;
  for (const wrong of [{ targetUrl: address }, { subscribedActions: [plant('unknown action')] }])
    await shop.send('POST', '/webhooks', { ...wanted, ...wrong });
}
