import { atOnce, type Fault, formAndSubmit } from '../faults/fault.ts';
import { processFaults } from '../faults/process-faults.ts';
import type { PostgresProxy } from '../proxy/postgres-proxy.ts';
import type { ServiceProcess } from '../world/service-process.ts';
import { backUp, type Forgotten } from './back-up.ts';
import type { Manner, OwnerProxy } from './owner-proxy.ts';

/** One of two instances, and the way to its database. */
export interface Struckable {
  process: ServiceProcess;
  proxy: PostgresProxy;
  /** Of its database, not through the proxy. */
  databaseUrl: string;
  /** What it has forgotten in restorations. */
  forgotten: Forgotten[];
  /** Draws new keys for it while it is away (`npm run keys -- rotate`). */
  rotateKeys(): Promise<void>;
}

interface Parts {
  way: OwnerProxy;
  leader: Struckable;
  owner: Struckable;
}

/** By what is said of it: how the way to the owner is treated meanwhile. */
const ways: readonly (readonly [string, Manner])[] = [
  ['owner down', 'down'],
  ['owner slow', 'slow'],
  ['owner unavailable', 'unavailable'],
  ['owner refusing everything', 'forbidden'],
  ['owner answering garbage', 'garbage'],
  ['reply lost after the owner’s COMMIT', 'reply lost'],
  ['requests arriving twice', 'twice'],
  ['answers mixed up', 'mixed up'],
];

/** What happens to two instances that are peers, and between them. */
export function peerFaults({ way, leader, owner }: Parts): Fault[] {
  return [
    ...ways.map(
      ([name, manner]): Fault => ({
        name,
        breaks: 'the way',
        lasts: [500, 4_000],
        promised: formAndSubmit,
        async strike() {
          way.behave(manner);
          return async () => way.behave('well');
        },
      }),
    ),
    ...of(leader.process, ['kill -9 of leader', 'clock of leader +10 min', 'clock of leader −10 min']),
    ...of(owner.process, [
      'kill -9 of owner',
      'SIGSTOP of owner',
      'clock of owner +10 min',
      'clock of owner −10 min',
    ]).map((fault) => ({ ...fault, promised: formAndSubmit })),
    { ...rotated(owner), promised: formAndSubmit },
    rotated(leader),
    { ...restored(owner), promised: formAndSubmit },
    restored(leader),
    cut('connections of owner to PostgreSQL cut', owner, formAndSubmit),
    cut('connections of leader to PostgreSQL cut', leader),
    lost('leader', leader),
    lost('owner', owner),
  ];
}

/** Those of the faults of a process that have these names. */
function of(process: ServiceProcess, names: readonly string[]): Fault[] {
  return processFaults([process]).filter(({ name }) => names.includes(name));
}

function rotated({ process, rotateKeys }: Struckable): Fault {
  return {
    name: `keys of ${process.name} rotated`,
    breaks: process.name,
    lasts: atOnce,
    async strike() {
      await process.stop();
      await rotateKeys();
      return () => process.start();
    },
  };
}

/** Everything that it has committed since the backup is gone, and its partner knows of it. */
function restored({ process, databaseUrl, forgotten }: Struckable): Fault {
  return {
    name: `${process.name} restored from an older backup`,
    breaks: process.name,
    lasts: [500, 4_000],
    async strike() {
      await process.kill();
      const backup = await backUp(databaseUrl);
      await process.start();
      return async () => {
        await process.kill();
        forgotten.push(await backup.restore());
        await process.start();
      };
    },
  };
}

function cut(name: string, { proxy }: Struckable, promised?: Fault['promised']): Fault {
  return {
    name,
    breaks: `PostgreSQL ${name}`,
    lasts: atOnce,
    ...(promised && { promised }),
    async strike() {
      proxy.cut();
      return async () => {};
    },
  };
}

function lost(whose: string, { proxy }: Struckable): Fault {
  return {
    ...{
      name: `replies of PostgreSQL to ${whose} lost`,
      breaks: `PostgreSQL of ${whose}`,
      lasts: [500, 3_000],
    },
    async strike() {
      proxy.loseReplies({ percent: 20, as: 'cut' });
      return async () => proxy.loseReplies();
    },
  };
}
