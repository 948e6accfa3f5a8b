import type { ApiClient } from '../../api/api-client.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { OperationId, Schemas } from '../../api/api-types.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { Shape } from '../../pages/states.ts';

/** Something that waits for a person: a sentence with its number, and where it is done. */
export interface DueLine {
  text: string;
  href: string;
  shape: Shape;
}

/** What the page reads anyway; undefined for what the person may not read. */
interface Known {
  webhooks: Promise<Schemas['Webhook'][]> | undefined;
  peers: Promise<Schemas['Peer'][]> | undefined;
  /** How many valid answers expire soon; undefined if counting takes long. */
  expiring: Promise<number | undefined> | undefined;
}

type Find = (api: ApiClient, reader: ConsoleReader, known: Known) => Promise<readonly DueLine[]>;

const longest = 200;

/** Each with an operation that the person must be allowed to call. */
const finders: readonly (readonly [OperationId, Find])[] = [
  ['decideErasure', findErasures],
  ['listWebhooks', findWebhooks],
  ['getPeer', findPeers],
  ['setVersionStatus', findDrafts],
  ['createCampaign', findCampaigns],
  ['countValidAnswers', findExpiring],
];

/**
 * What is due for a person, the most urgent first.
 * @returns none if nothing is; the last line says so if something could not be read.
 * @throws ApiFailure if nothing could be read.
 */
export async function readDue(
  api: ApiClient,
  reader: ConsoleReader,
  { may, ...known }: Known & { may(operation: OperationId): boolean },
): Promise<DueLine[]> {
  const asked = finders.filter(([operation]) => may(operation));
  const found = await Promise.allSettled(asked.map(([, find]) => find(api, reader, known)));
  const failures = found.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  for (const failure of failures) if (!(failure instanceof ApiFailure)) throw failure;
  if (failures.length > 0 && failures.length === asked.length) throw failures[0];
  const lines = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  return failures.length === 0 ? lines : [...lines, dueLine(reader, 'unread', '')];
}

/** @param count none: no line. */
function dueLines(reader: ConsoleReader, word: string, href: string, count: number, more = {}): DueLine[] {
  return count > 0 ? [dueLine(reader, word, href, { count, ...more })] : [];
}

function dueLine(reader: ConsoleReader, word: string, href: string, values = {}): DueLine {
  return { text: reader.t(`due.${word}`, values), href, shape: runs.has(word) ? 'under-way' : 'needs-you' };
}

/** What goes on by itself. */
const runs: ReadonlySet<string> = new Set(['running', 'held', 'expiring']);

async function findErasures(api: ApiClient, reader: ConsoleReader): Promise<DueLine[]> {
  const { body } = await api.call('listErasures', { query: { limit: longest } });
  const asked = body.filter(({ state }) => state === 'REQUESTED');
  const first = asked.map(({ due }) => due).sort()[0];
  const held = body.filter(({ state }) => state === 'HELD').length;
  const href = '/console/subjects/erasures';
  return [
    ...dueLines(reader, 'erasures', href, asked.length, { date: first ? reader.time(first).short : '' }),
    ...dueLines(reader, 'held', href, held),
  ];
}

async function findWebhooks(_: ApiClient, reader: ConsoleReader, { webhooks }: Known): Promise<DueLine[]> {
  const failing = ((await webhooks) ?? []).filter(needsCare);
  const [only] = failing;
  const path = '/console/integration/webhooks';
  return dueLines(reader, 'webhooks', failing.length === 1 ? `${path}/${only?.id}` : path, failing.length);
}

/** Whether a webhook fails or is paused. */
export function needsCare({ state, failingSince }: Schemas['Webhook']): boolean {
  return state === 'PAUSED' || failingSince !== undefined;
}

async function findPeers(_: ApiClient, reader: ConsoleReader, { peers }: Known): Promise<DueLine[]> {
  const all = (await peers) ?? [];
  const path = '/console/integration/peers';
  const linkOf = (few: readonly Schemas['Peer'][]) => (few.length === 1 ? `${path}/${few[0]?.id}` : path);
  const changed = all.filter(({ state }) => state === 'QUARANTINED');
  const away = all.filter(({ state, failures }) => state !== 'QUARANTINED' && failures > 0);
  return [
    ...dueLines(reader, 'peerKeys', linkOf(changed), changed.length),
    ...dueLines(reader, 'peers', linkOf(away), away.length),
  ];
}

async function findDrafts(api: ApiClient, reader: ConsoleReader): Promise<DueLine[]> {
  const rooms = [
    ['elements', 'processing,preference,conditions,information,theme,email'],
    ['forms', 'layout'],
  ] as const;
  const counts = await Promise.all(
    rooms.map(async ([room, types]) => {
      const { body } = await api.call('listModels', { query: { types, draft: true, size: 1 } });
      return dueLines(reader, room, `/console/${room}?status=DRAFT`, body.totalCount);
    }),
  );
  return counts.flat();
}

async function findCampaigns(api: ApiClient, reader: ConsoleReader): Promise<DueLine[]> {
  const { body } = await api.call('listCampaigns', { query: { limit: longest } });
  const count = (wanted: string) => body.filter(({ state }) => state === wanted).length;
  const href = '/console/campaigns';
  return [
    ...dueLines(reader, 'paused', href, count('PAUSED')),
    ...dueLines(reader, 'running', href, count('RUNNING')),
  ];
}

async function findExpiring(_: ApiClient, reader: ConsoleReader, { expiring }: Known): Promise<DueLine[]> {
  return dueLines(reader, 'expiring', '#panel-expiring', (await expiring) ?? 0);
}
