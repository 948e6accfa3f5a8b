import type { components } from '#lib/contracts/openapi.gen.ts';
import { createKey, type Reachable, signIn } from '../instances/callers.ts';

type Peer = components['schemas']['Peer'];

/** Pairs two instances as their administrators do. @returns each as the other lists it. */
export async function pairInstances(here: Reachable, there: Reachable): Promise<{ there: Peer; here: Peer }> {
  const [hereAdmin, thereAdmin] = await Promise.all([signIn(here, 'admin'), signIn(there, 'admin')]);
  const { key } = await createKey(there, 'a partner', 'PEER');
  const paired = await hereAdmin.send('POST', '/peers', {
    url: there.url,
    apiKey: key,
    withCounterPart: true,
  });
  if (!paired.ok) throw new Error(`the instances do not pair: ${await paired.text()}`);
  const listed = (await (await thereAdmin.get('/peers')).json()) as Peer[];
  return { there: (await paired.json()) as Peer, here: listed.find(({ url }) => url === here.url) as Peer };
}
