import { Counter, Gauge, type Registry } from 'prom-client';

/** What is counted of other instances. A peer is named by its id here; there are as many as administrators have paired with. */
export interface PeerMetrics {
  /** A message was refused. @param reason a word of ours. */
  refused(reason: string): void;
  /** How far a peer's clock is ahead of ours, in seconds. */
  clock(peer: string, seconds: number): void;
}

export function createPeerMetrics(registers: Registry[]): PeerMetrics {
  const refusals = new Counter({
    name: 'accord_peer_refused_total',
    help: 'Messages in the name of peers that were refused, by what was wrong with them.',
    labelNames: ['reason'],
    registers,
  });
  const clocks = new Gauge({
    name: 'accord_peer_clock_skew_seconds',
    help: 'How far the clock of a peer was ahead of ours when it was last heard of.',
    labelNames: ['peer'],
    registers,
  });
  return {
    refused: (reason) => refusals.inc({ reason }),
    clock: (peer, seconds) => clocks.set({ peer }, seconds),
  };
}
