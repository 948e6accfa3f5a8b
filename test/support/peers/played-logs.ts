import { hashOfNodes, proofNodes } from '#lib/audit/consistency.ts';
import { appendLeaf, emptyFrontier, hashLeaf, rootOf } from '#lib/audit/merkle-tree.ts';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import { auditAreas } from '#lib/contracts/audit-areas.ts';
import { writeUpdate } from '#lib/witness/checkpoint-note.ts';
import { createNoteSigner } from '#lib/witness/note-signer.ts';
import { signPeerRequest } from '../../../services/peers/domain/peer-token.ts';
import { createKey, type Reachable, signIn } from '../instances/callers.ts';
import { type OwnPeer, startOwnPeer } from './peer-of-our-own.ts';

/** A log of a peer that a test plays. */
export interface PlayedLog {
  /** As it stands in signed notes. */
  origin: string;
  /** In hexadecimal. */
  rootAt(size: number): string;
  /**
   * Asks the witness to cosign the head at a size. @param old size that the witness knows; 0: none.
   * @param root of another history.
   */
  send(size: number, old: number, root?: Buffer): Promise<{ status: number; text: string }>;
}

/**
 * Pairs with an instance as a peer that this program plays, whose logs the instance witnesses.
 * @param most lines of a log.
 */
export async function playLogs(
  to: Reachable,
  most: number,
): Promise<{ peer: OwnPeer; id: string; logs: PlayedLog[] }> {
  const peer = await startOwnPeer();
  const notes = createNoteSigner(peer.url, peer.keys);
  const described = {
    logs: Object.fromEntries(auditAreas.map((area) => [area, notes.logKeys(area)])),
    witness: notes.witnessKeys,
  };
  const { describe } = peer;
  peer.describe = (changes = {}, ...rest) => describe({ notes: described, ...changes }, ...rest);
  const admin = await signIn(to, 'admin');
  const { key } = await createKey(to, 'a partner', 'PEER');
  const paired = await admin.send('POST', '/peers', { url: peer.url, apiKey: key });
  if (!paired.ok) throw new Error(`the peer is not paired: ${await paired.text()}`);
  const { id } = (await paired.json()) as { id: string };
  await admin.send('PUT', `/peers/${id}`, { witness: true });

  const leaves = Array.from({ length: most }, (_, index) => hashLeaf(`line ${index}`));
  const hashOf = (from: number, end: number) => {
    const tree = emptyFrontier();
    for (const leaf of leaves.slice(from, end)) appendLeaf(tree, leaf);
    return rootOf(tree);
  };
  const nodeHash = ({ level, position }: { level: number; position: number }) =>
    hashOf(position * 2 ** level, (position + 1) * 2 ** level);
  const logs = auditAreas.map((area) => ({
    origin: notes.originOf(area),
    rootAt: (size: number) => hashOf(0, size).toString('hex'),
    send(size: number, old: number, root = hashOf(0, size)) {
      const isGrowth = old > 0 && old < size;
      const proof = isGrowth ? proofNodes(old, size).map((nodes) => hashOfNodes(nodes.map(nodeHash))) : [];
      return post(peer, to.url, writeUpdate({ old, proof, note: notes.signHead(area, { size, root }) }));
    },
  }));
  return { peer, id, logs };
}

/** Signs the request as peers do: callers without credentials wait for themselves (ADR 32). */
async function post({ url: issuer, keys }: OwnPeer, audience: string, body: string) {
  const url = `${audience}/federation/witness/add-checkpoint`;
  const signed = { method: 'POST', url, body: Buffer.from(body) };
  const token = signPeerRequest(signed, { issuer, audience, key: keys[0] as PrivateKey });
  const headers = { Authorization: `Peer ${token}`, 'Content-Type': 'text/plain' };
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
}
