import { auditAreas } from '#lib/contracts/audit-areas.ts';
import type { ApiClient } from '../../api/api-client.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import type { ConsoleReader, PrintedTime } from '../../pages/console-reader.ts';
import type { CellView } from '../../pages/table.ts';

type Checkpoint = Schemas['Checkpoint'];

/** What the newest checkpoint says, for the page. */
interface ProofView {
  signed: PrintedTime;
  /** Lines and root by area. */
  facts: { label: string; cell: CellView }[];
  href: string;
}

/** Digits of a root that are shown; the file has all. */
const shownDigits = 16;

/** @returns undefined if there is no checkpoint yet. @throws ApiFailure. */
export async function readNewestCheckpoint(api: ApiClient): Promise<Checkpoint | undefined> {
  const { body } = await api.call('listCheckpoints', { page: { limit: 1 } });
  return body.values[0];
}

/**
 * The proof of the logs: heads of the trees in the newest checkpoint (docs/evidence.md).
 * @returns `missing` if nothing was signed yet or the checkpoints cannot be read: the lines are shown anyway.
 */
export async function readProof(
  api: ApiClient,
  reader: ConsoleReader,
  path: string,
): Promise<ProofView | 'missing'> {
  const checkpoint = await readNewestCheckpoint(api).catch((error) => {
    if (error instanceof ApiFailure) return undefined;
    throw error;
  });
  if (!checkpoint) return 'missing';
  const { at, logs } = checkpoint;
  const facts = auditAreas.flatMap((area) => {
    const head = logs[area];
    if (!head) return [];
    const note = reader.t('audit.lines', { count: head.size });
    return [
      { label: reader.word('auditArea', area), cell: { code: `${head.root.slice(0, shownDigits)}…`, note } },
    ];
  });
  return { signed: reader.time(at), facts, href: `${path}/checkpoint/export` };
}
