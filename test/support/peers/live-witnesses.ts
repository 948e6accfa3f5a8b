import { expect } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { readAudit } from '../instances/audit-reader.ts';
import type { Caller } from '../instances/callers.ts';

type Schemas = components['schemas'];

/** Sets whether a peer and this side witness each other's logs. */
export async function setWitness(
  admin: Caller,
  { id }: Pick<Schemas['Peer'], 'id'>,
  witness: boolean,
): Promise<void> {
  const changed = await admin.send('PUT', `/peers/${id}`, { witness });
  expect(await changed.json()).toMatchObject({ witness });
}

/** The newest checkpoint, and how the witnesses are doing. */
export async function listCheckpoints(admin: Caller): Promise<Schemas['CheckpointList']> {
  return (await (await admin.get('/audit/checkpoints?limit=1')).json()) as Schemas['CheckpointList'];
}

/** Lines about two histories of one log. */
export async function disputesOf(admin: Caller): Promise<{ target: string; outcome?: string }[]> {
  const { values } = await readAudit(admin.get, 'peers', '?action=head.disputed');
  return values as { target: string; outcome?: string }[];
}
