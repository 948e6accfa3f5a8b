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
  /** What witnesses say, in one sentence. */
  verdict: { text: string; tone: 'good' | 'bad' | 'plain' };
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
  const checkpoint = await readShownCheckpoint(api).catch((error) => {
    if (error instanceof ApiFailure) return undefined;
    throw error;
  });
  if (!checkpoint) return 'missing';
  const { newest, witnesses } = checkpoint;
  const { at, logs } = newest;
  const facts = auditAreas.flatMap((area) => {
    const head = logs[area];
    if (!head) return [];
    const note = reader.t('audit.lines', { count: head.size });
    return [
      { label: reader.word('auditArea', area), cell: { code: `${head.root.slice(0, shownDigits)}…`, note } },
    ];
  });
  const verdict = verdictOf(reader, newest, witnesses);
  return { signed: reader.time(at), facts, verdict, href: `${path}/checkpoint/export` };
}

type Witnesses = NonNullable<Schemas['CheckpointList']['witnesses']>;

/** Witnesses sign within a minute, so the newest checkpoint may have nothing yet that the one before has. */
async function readShownCheckpoint(api: ApiClient) {
  const { body } = await api.call('listCheckpoints', { page: { limit: 2 } });
  const { values, witnesses = [] } = body;
  const [first, second] = values;
  if (!first) return undefined;
  const newest = second && countWitnesses(second) > countWitnesses(first) ? second : first;
  return { newest, witnesses };
}

/** Witnesses that have cosigned the heads of all logs of a checkpoint. */
function countWitnesses({ logs, cosignatures = [] }: Checkpoint): number {
  const areas = Object.keys(logs);
  const byWitness = Map.groupBy(cosignatures, ({ witness }) => witness);
  return [...byWitness.values()].filter((given) => given.length === areas.length).length;
}

function verdictOf({ t }: ConsoleReader, checkpoint: Checkpoint, witnesses: Witnesses): ProofView['verdict'] {
  const disputing = witnesses.filter(({ isDisputing }) => isDisputing).map(({ name }) => name);
  if (disputing.length > 0)
    return { text: t('audit.disputed', { witness: disputing.join(', ') }), tone: 'bad' };
  if (witnesses.length === 0) return { text: t('audit.noWitness'), tone: 'plain' };
  const count = Math.min(countWitnesses(checkpoint), witnesses.length);
  const text = t('audit.witnessed', { count, all: witnesses.length });
  return { text, tone: count === witnesses.length ? 'good' : 'plain' };
}
