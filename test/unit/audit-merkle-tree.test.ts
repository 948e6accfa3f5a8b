import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { leafOf } from '#lib/audit/leaf.ts';
import { appendLeaf, emptyFrontier, hashLeaf, rootOf } from '#lib/audit/merkle-tree.ts';

const require = createRequire(import.meta.url);
const { default: reference } = require('@transmute/rfc9162') as typeof import('@transmute/rfc9162');

function treeOf(entries: readonly string[]) {
  const tree = emptyFrontier();
  for (const entry of entries) appendLeaf(tree, hashLeaf(entry));
  return tree;
}

it('the root of a tree is that of an independent implementation of RFC 9162, for any leaves', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 70 }),
      async (entries) => {
        const expected = await reference.treeHead(entries.map((entry) => new TextEncoder().encode(entry)));
        const tree = treeOf(entries);
        expect(rootOf(tree).toString('hex')).toBe(Buffer.from(expected).toString('hex'));
        expect(tree.size).toBe(entries.length);
      },
    ),
  );
});

it('every earlier root is a consistent prefix by that implementation', async () => {
  const entries = Array.from({ length: 33 }, (_, index) => `line ${index}`);
  const bytes = entries.map((entry) => new TextEncoder().encode(entry));
  for (let size = 2; size < entries.length; size += 1) {
    const inclusion = await reference.inclusionProof(bytes[size - 1] as Uint8Array, bytes.slice(0, size));
    const consistency = await reference.consistencyProof(inclusion, bytes);
    const [early, late] = [treeOf(entries.slice(0, size)), treeOf(entries)].map(rootOf);
    expect(
      await reference.verifyConsistencyProof(early as Buffer, late as Buffer, consistency),
      String(size),
    ).toBe(true);
  }
});

it('an empty tree has the hash of nothing, and a leaf is not a node', () => {
  expect(rootOf(emptyFrontier())).toEqual(createHash('sha256').digest());
  expect(hashLeaf('')).toEqual(createHash('sha256').update(Uint8Array.of(0)).digest());
});

it('a leaf covers every member of a line, and no other member', () => {
  const line = {
    seq: 7,
    id: '0197a1f4-6d10-7c21-8b3e-4f5a6b7c8d9e',
    at: '2026-03-14T09:40:13.201Z',
    actor: 'accord',
    actorKind: 'system',
    action: 'receipt.signed',
    target: 'transaction/abc',
    outcome: 'done',
    digest: '00'.repeat(32),
    request: 'a',
  };
  const leaf = leafOf(line).toString('hex');
  const canonical = `{"action":"receipt.signed","actor":"accord","actorKind":"system","at":"2026-03-14T09:40:13.201Z","digest":"${'00'.repeat(32)}","id":"${line.id}","outcome":"done","request":"a","seq":7,"target":"transaction/abc"}`;
  expect(leaf).toBe(createHash('sha256').update(`\0${canonical}`).digest('hex'));
  expect(leafOf({ ...line, leaf: 'ignored' } as typeof line).toString('hex')).toBe(leaf);
  for (const name of Object.keys(line) as (keyof typeof line)[])
    expect(leafOf({ ...line, [name]: name === 'seq' ? 8 : 'changed' }).toString('hex'), name).not.toBe(leaf);
});
