import type Router from '@koa/router';
import type { JWK } from 'jose';
import { leafOf, type SealedLine } from '#lib/audit/leaf.ts';
import { appendLeaf, emptyFrontier, rootOf } from '#lib/audit/merkle-tree.ts';
import { type AuditArea, auditAreas } from '#lib/contracts/audit-areas.ts';
import { algorithmOf } from '#lib/evidence/evidence-keys.ts';
import { provePayload, readCompactJws } from '#lib/jose/jws.ts';
import type { ApiClient } from '../../api/api-client.ts';
import type { Schemas } from '../../api/api-types.ts';
import { largestPage, readPages, whileConnected } from '../../pages/read-pages.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { areaOperations } from './merge-areas.ts';
import { readProof } from './proof.ts';

type Checkpoint = Schemas['Checkpoint'];
type Head = Checkpoint['logs'][string];

/** Whether the lines of the log are those of a checkpoint. */
interface LogCheck {
  /** TOO_LONG: a page does not read so many lines. */
  outcome: 'UNCHANGED' | 'CHANGED' | 'TOO_LONG';
  lines: number;
  /** Those whose lines do not give the signed root. */
  changed: AuditArea[];
}

/** What a page reads: a hundred calls of the API, some seconds. */
const mostLines = 20_000;

/** A page that says in a sentence whether the log is unchanged; all that it rests on is folded. */
export function checkRoute(router: Router, tools: RoomTools): void {
  router.get('/check', async (ctx) => {
    const reader = tools.reader(ctx);
    const api = tools.api(ctx);
    const proof = await readProof(api, reader, tools.path);
    const isSigned = proof !== 'missing';
    const check = isSigned ? await checkLog(api, proof.checkpoint, whileConnected(ctx)) : undefined;
    const outcome = isSigned && proof.isDisputed ? 'DISPUTED' : (check?.outcome ?? 'UNSIGNED');
    const word = reader.t(`audit.check.${outcome}`, {
      now: reader.time(Date.now()).text,
      signed: isSigned ? reader.time(proof.checkpoint.at).text : '',
      lines: check?.lines ?? 0,
      areas: reader.list((check?.changed ?? []).map((area) => reader.word('auditArea', area))),
    });
    await tools.page(ctx, 'check', {
      title: reader.t('audit.checkTitle'),
      answer: { word, shape: shapes[outcome] },
      proof: isSigned && proof,
    });
  });
}

const shapes = {
  UNCHANGED: 'in-force',
  CHANGED: 'needs-you',
  DISPUTED: 'needs-you',
  TOO_LONG: 'over',
  UNSIGNED: 'over',
} as const;

/**
 * Reads every line that a checkpoint covers, computes the roots of the trees and compares them with those
 * that are signed (docs/evidence.md).
 * @param signal ends the reading. @throws ApiFailure.
 */
async function checkLog(api: ApiClient, checkpoint: Checkpoint, signal: AbortSignal): Promise<LogCheck> {
  const heads = auditAreas.flatMap((area) => {
    const head = checkpoint.logs[area];
    return head ? [{ area, head }] : [];
  });
  const lines = heads.reduce((sum, { head }) => sum + head.size, 0);
  if (lines > mostLines) return { outcome: 'TOO_LONG', lines, changed: [] };
  const isSigned = provesHeads((await api.call('getSigningKeys')).body.keys as JWK[], checkpoint);
  const changed: AuditArea[] = [];
  for (const { area, head } of heads)
    if (!isSigned || (await readRoot(api, area, { head, signal })) !== head.root) changed.push(area);
  return { outcome: changed.length === 0 ? 'UNCHANGED' : 'CHANGED', lines, changed };
}

/** Whether the instance has signed just the heads that the checkpoint states. */
function provesHeads(keys: readonly JWK[], { jws: text, logs }: Checkpoint): boolean {
  const jws = readCompactJws(text);
  const jwk = keys.find(({ kid }) => kid === jws?.header.kid);
  const payload = jws && jwk && provePayload(jws, jwk, algorithmOf(jwk));
  if (!payload || jws.header.typ !== 'accord-checkpoint+jwt') return false;
  const signed: { logs: Record<string, Head> } = JSON.parse(payload.toString());
  const textOf = (heads: Record<string, Head>) =>
    JSON.stringify(
      Object.entries(heads)
        .map(([area, { size, root }]) => [area, size, root])
        .sort(),
    );
  return textOf(signed.logs) === textOf(logs);
}

/** The root of the tree of the first lines of a log; undefined if a line is missing or in another's place. */
async function readRoot(
  api: ApiClient,
  area: AuditArea,
  { head, signal }: { head: Head; signal: AbortSignal },
): Promise<string | undefined> {
  const tree = emptyFrontier();
  const read = async (from = '0') => {
    const query = { from };
    const { rows } = await api.list(areaOperations[area], { query, page: { limit: largestPage } });
    const isLast = rows.length === 0 || Number(from) + rows.length >= head.size;
    return { rows, next: isLast ? undefined : String(Number(from) + rows.length) };
  };
  for await (const { rows } of readPages(read, signal)) {
    for (const line of rows.slice(0, head.size - tree.size)) {
      if (line.seq !== tree.size) return undefined;
      appendLeaf(tree, 'leaf' in line ? Buffer.from(line.leaf, 'hex') : leafOf(line as SealedLine));
    }
  }
  return tree.size === head.size ? rootOf(tree).toString('hex') : undefined;
}
