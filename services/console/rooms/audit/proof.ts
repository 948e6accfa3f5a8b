import { auditAreas } from '#lib/contracts/audit-areas.ts';
import type { ApiClient } from '../../api/api-client.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type StateMark, stateMark } from '../../pages/states.ts';
import type { CellView } from '../../pages/table.ts';

type Checkpoint = Schemas['Checkpoint'];

/** What the newest checkpoint says, for the page. */
interface ProofView {
  checkpoint: Checkpoint;
  /** When it was signed; then lines and root by area. */
  facts: Fact[];
  href: string;
  /** What witnesses say, in one sentence. */
  verdict: StateMark;
  /** How each witness is doing. */
  witnesses: Fact[];
  /** Whether two histories are known; the panel then opens by itself. */
  isDisputed: boolean;
}

interface Fact {
  label: string;
  cell: CellView;
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
  const signed = { label: reader.t('audit.signed'), cell: { time: reader.time(at) } };
  const areas = auditAreas.flatMap((area) => {
    const head = logs[area];
    if (!head) return [];
    const note = reader.t('audit.lines', { count: head.size });
    return [
      { label: reader.word('auditArea', area), cell: { code: `${head.root.slice(0, shownDigits)}…`, note } },
    ];
  });
  return {
    checkpoint: newest,
    facts: [signed, ...areas],
    verdict: verdictOf(reader, newest, witnesses),
    witnesses: witnesses.map((witness) => witnessFact(reader, witness)),
    isDisputed: witnesses.some(({ isDisputing }) => isDisputing),
    href: `${path}/checkpoint/export`,
  };
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

function verdictOf({ t }: ConsoleReader, checkpoint: Checkpoint, witnesses: Witnesses): StateMark {
  const disputing = witnesses.filter(({ isDisputing }) => isDisputing).map(({ name }) => addressOf(name));
  if (disputing.length > 0)
    return { word: t('audit.disputed', { witness: disputing.join(', ') }), shape: 'needs-you' };
  if (witnesses.length === 0) return { word: t('audit.noWitness'), shape: 'over' };
  const count = Math.min(countWitnesses(checkpoint), witnesses.length);
  const word = t('audit.witnessed', { count, all: witnesses.length });
  return { word, shape: count === witnesses.length ? 'in-force' : 'under-way' };
}

function witnessFact(reader: ConsoleReader, { name, isDisputing, lastError }: Witnesses[number]): Fact {
  const state = isDisputing ? 'REFUSING' : lastError === undefined ? 'COSIGNING' : 'AWAY';
  const cell: CellView = { state: stateMark(reader, 'witnessState', state) };
  if (lastError !== undefined) cell.details = { word: reader.t('audit.why'), code: lastError };
  return { label: addressOf(name), cell };
}

/** Names are URLs. */
const addressOf = (name: string) => name.replace(/^https?:\/\//, '');
