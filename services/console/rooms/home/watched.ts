import type { Schemas } from '../../api/api-types.ts';
import type { ConsoleReader, PrintedTime } from '../../pages/console-reader.ts';
import { outboundReason } from '../../pages/outbound-reason.ts';
import { type StateMark, stateMark } from '../../pages/states.ts';
import { needsCare } from './due.ts';

/** A line about something outside that this instance talks to. */
export interface WatchedLine {
  href: string;
  name: string;
  state: StateMark;
  /** Sentences beside the state. */
  notes: { text: string; time?: PrintedTime }[];
  /** Why it fails. */
  reason?: string;
}

/** What a panel about webhooks or peers shows. */
export interface Watched {
  sentence: string;
  /** What to do if there is none. */
  next: { href: string; word: string } | null;
  lines: WatchedLine[];
}

/** The webhooks that fail or are paused. */
export function watchedWebhooks(
  reader: ConsoleReader,
  all: readonly Schemas['Webhook'][],
  mayCreate: boolean,
): Watched {
  const failing = all.filter(needsCare);
  const key = all.length === 0 ? 'home.noWebhooks' : 'home.webhooksText';
  return {
    sentence: reader.t(key, { count: all.length, failing: failing.length }),
    next:
      all.length === 0 && mayCreate
        ? { href: '/console/integration/webhooks/new', word: reader.t('home.newWebhook') }
        : null,
    lines: failing.map(({ id, name, state, failingSince, lastError }) => ({
      href: `/console/integration/webhooks/${id}`,
      name,
      state: stateMark(reader, 'webhookState', state === 'PAUSED' ? state : 'FAILING'),
      notes: failingSince ? [{ text: reader.t('home.since'), time: reader.time(failingSince) }] : [],
      ...(lastError && {
        reason: outboundReason(reader, { code: lastError.code, text: lastError.reason }),
      }),
    })),
  };
}

/** The peers, with those first that wait for a person. */
export function watchedPeers(
  reader: ConsoleReader,
  all: readonly Schemas['Peer'][],
  mayCreate: boolean,
): Watched {
  const urgency = ({ state }: { state: string }) => Number(state === 'QUARANTINED');
  return {
    sentence: reader.t(all.length === 0 ? 'home.noPeers' : 'home.peersText', { count: all.length }),
    next:
      all.length === 0 && mayCreate
        ? { href: '/console/integration/peers/new', word: reader.t('home.newPeer') }
        : null,
    lines: [...all]
      .sort((a, b) => urgency(b) - urgency(a) || b.backlog - a.backlog)
      .slice(0, 10)
      .map((peer) => ({
        href: `/console/integration/peers/${peer.id}`,
        name: peer.name,
        state: stateMark(reader, 'peerState', peer.state),
        notes: peerNotes(reader, peer),
      })),
  };
}

function peerNotes(
  reader: ConsoleReader,
  { backlog, lastContactDate }: Schemas['Peer'],
): WatchedLine['notes'] {
  return [
    ...(lastContactDate ? [{ text: reader.t('home.lastContact'), time: reader.time(lastContactDate) }] : []),
    ...(backlog > 0 ? [{ text: reader.t('home.backlog', { count: backlog }) }] : []),
  ];
}
