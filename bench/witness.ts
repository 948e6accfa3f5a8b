import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { hashOfNodes, proofNodes } from '#lib/audit/consistency.ts';
import { appendLeaf, emptyFrontier, hashLeaf, rootOf } from '#lib/audit/merkle-tree.ts';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import { auditAreas } from '#lib/contracts/audit-areas.ts';
import { writeUpdate } from '#lib/witness/checkpoint-note.ts';
import { createNoteSigner } from '#lib/witness/note-signer.ts';
import { signPeerRequest } from '../services/peers/domain/peer-token.ts';
import { createKey, signIn } from '../test/support/instances/callers.ts';
import { startStandalone } from '../test/support/instances/standalone-process.ts';
import { type OwnPeer, startOwnPeer } from '../test/support/peers/peer-of-our-own.ts';

// An instance as a witness: updates of the logs of several peers at an even rate, each log one after the
// other. The instance commits each head before it cosigns.

const { values: options } = parseArgs({
  options: {
    peers: { type: 'string', default: '10' },
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '20' },
    out: { type: 'string' },
  },
});
const [count, rate, seconds] = [options.peers, options.rate, options.seconds].map(Number) as [
  number,
  number,
  number,
];
const most = Math.ceil((rate * seconds) / (count * auditAreas.length)) + 1;
const leaves = Array.from({ length: most }, (_, index) => hashLeaf(`line ${index}`));
const hashOf = (from: number, to: number) => {
  const tree = emptyFrontier();
  for (const leaf of leaves.slice(from, to)) appendLeaf(tree, leaf);
  return rootOf(tree);
};

const folder = await mkdtemp(path.join(tmpdir(), 'accord-witness-'));
// As root, PostgreSQL runs as a user who must be able to enter.
await chmod(folder, 0o755);
const accord = startStandalone({ DATA_DIR: path.join(folder, 'data') });
try {
  const url = await accord.ready;
  const reachable = { url, fetch: (to: string, init?: RequestInit) => fetch(new URL(to, url), init) };
  const logs = (await Promise.all(Array.from({ length: count }, () => addPeer(reachable)))).flat();
  const took: number[] = [];
  const wrong: number[] = [];
  const started = performance.now();
  const running = logs.map(async (log, order) => {
    let size = 1;
    for (let turn = 0; ; turn += 1) {
      const due = started + ((turn * logs.length + order) / rate) * 1000;
      if (due > started + seconds * 1000) return;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      const began = performance.now();
      const status = await log(size);
      took.push(performance.now() - began);
      // A failed update is sent again at the next turn, as a log does.
      if (status === 200) size += 1;
      else wrong.push(status);
    }
  });
  await Promise.all(running);
  const reached = took.length / ((performance.now() - started) / 1000);
  took.sort((a, b) => a - b);
  const quantile = (q: number) => Math.round(took[Math.floor(took.length * q)] ?? 0);
  const text = `| logs | updates a second | p50 | p99 | not cosigned |
|---:|---:|---:|---:|---:|
| ${logs.length} | ${reached.toFixed(0)} | ${quantile(0.5)} ms | ${quantile(0.99)} ms | ${wrong.length} |
`;
  process.stdout.write(text);
  if (wrong.length > 0) process.stdout.write(`${JSON.stringify(Object.groupBy(wrong, String))}\n`);
  if (options.out) await writeFile(options.out, text);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  await accord.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Pairs with a peer that this program plays. @returns its logs, each of which sends its head at a size. */
async function addPeer(to: Parameters<typeof signIn>[0]): Promise<((size: number) => Promise<number>)[]> {
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
  return auditAreas.map((area) => async (size) => {
    const proof =
      size === 1 ? [] : proofNodes(size - 1, size).map((nodes) => hashOfNodes(nodes.map(nodeHash)));
    const note = notes.signHead(area, { size, root: hashOf(0, size) });
    return post(peer, to.url, writeUpdate({ old: size - 1, proof, note }));
  });
}

function nodeHash({ level, position }: { level: number; position: number }): Buffer {
  return hashOf(position * 2 ** level, (position + 1) * 2 ** level);
}

/** Signs the request as peers do: callers without credentials wait for themselves (ADR 32). */
async function post({ url: issuer, keys }: OwnPeer, audience: string, body: string): Promise<number> {
  const url = `${audience}/federation/witness/add-checkpoint`;
  const signed = { method: 'POST', url, body: Buffer.from(body) };
  const token = signPeerRequest(signed, { issuer, audience, key: keys[0] as PrivateKey });
  const headers = { Authorization: `Peer ${token}`, 'Content-Type': 'text/plain' };
  const response = await fetch(url, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}
