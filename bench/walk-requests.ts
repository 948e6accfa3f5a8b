import { runFlow, type Target } from './run-flow.ts';

/**
 * Every request whose statements must not grow dearer: the flow of a subject who comes back, then its records
 * and receipt.
 */
export async function walkRequests({ client, key }: Target, subject: string): Promise<void> {
  const ids: string[] = [];
  const watching = {
    ...client,
    async post(path: string, headers: Record<string, string>, body: string) {
      const reply = await client.post(path, headers, body);
      if (path === '/consents') ids.push((JSON.parse(reply.body) as { id: string }).id);
      return reply;
    },
  };
  await runFlow({ client: watching, key }, { subject, order: Date.now() }, () => {});
  const paths = [
    `/records?subject=${encodeURIComponent(subject)}`,
    `/receipts/${ids[0]}`,
    `/consents/${ids[0]}`,
    `/transactions?subject=${encodeURIComponent(subject)}`,
  ];
  for (const path of paths) {
    const { status, body } = await client.get(path, { CM_KEY: key, Accept: 'application/json' });
    if (status !== 200) throw new Error(`${path}: ${status} ${body.slice(0, 300)}`);
  }
}
