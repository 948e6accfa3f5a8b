import { rm } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { startTestPostgres } from '../../infrastructure/postgres.ts';
import { contractFetch } from '../../support/contract/contract.ts';
import { createKey, signIn } from '../../support/instances/callers.ts';
import { makeLiveModel } from '../../support/instances/live-models.ts';
import { pairInstances } from '../../support/peers/pair-instances.ts';
import type { Fault } from '../faults/fault.ts';
import { startPostgresProxy } from '../proxy/postgres-proxy.ts';
import type { Random } from '../random.ts';
import { waitUntil } from '../wait-until.ts';
import { type Mailbox, startMailbox } from '../world/mailbox.ts';
import { createServiceProcess } from '../world/service-process.ts';
import { openFolder, runTool } from '../world/world.ts';
import type { Asked } from './federated-client.ts';
import { type OwnerProxy, startOwnerProxy } from './owner-proxy.ts';
import { peerFaults, type Struckable } from './peer-faults.ts';

/** One of the two instances: a process and a database of its own. */
export interface Side extends Struckable {
  /** What its partner calls it. */
  baseUrl: string;
}

/**
 * A clinic that shows forms, and a laboratory that owns one of the questions; the clinic reaches it through a
 * proxy of ours.
 */
export interface FederatedWorld {
  leader: Side;
  owner: Side;
  way: OwnerProxy;
  /** Of an API key of the leader. */
  headers: Record<string, string>;
  /** What forms ask. */
  asked: Asked;
  faults: readonly Fault[];
  /** Of the leader. */
  mailbox: Mailbox;
  /** Where what processes say is kept. */
  logFolder: string;
  stop(): Promise<void>;
}

export interface FederatedOptions {
  random: Random;
  /** A bug to plant in both instances (test/chaos/planted). */
  bug?: string | undefined;
  /** Two empty or migrated databases of the run's PostgreSQL. */
  databaseUrls: readonly [leader: string, owner: string];
  /** Where what processes say is kept; nowhere for longer than the world if absent. */
  logFolder?: string;
}

export async function startFederatedWorld(options: FederatedOptions): Promise<FederatedWorld> {
  const { random, databaseUrls } = options;
  const folder = await openFolder();
  const { logFolder = folder } = options;
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const end of ends.reverse()) await end();
  };
  try {
    const [leaderPort, ownerPort] = [await freePort(), await freePort()];
    const way = await startOwnerProxy({ target: ownerPort, random });
    ends.push(way.close);
    const mailbox = await startMailbox();
    ends.push(mailbox.stop);
    const start = async (
      name: string,
      port: number,
      baseUrl: string,
      databaseUrl: string,
      settings: Record<string, string> = {},
    ) => {
      const given = { name, port, baseUrl, databaseUrl, settings };
      const side = await createSide({ ...options, ...given, logFolder, folder });
      ends.push(side.stop);
      await side.process.start();
      return side;
    };
    const leaderUrl = `http://localhost:${leaderPort}`;
    const [leader, owner] = await Promise.all([
      start('leader', leaderPort, leaderUrl, databaseUrls[0], mailbox.settings),
      start('owner', ownerPort, way.url, databaseUrls[1]),
    ]);
    const { headers, asked } = await makeThemPeers(leader, owner);
    const faults = [...peerFaults({ way, leader, owner }), ...mailbox.faults];
    return { leader, owner, way, headers, asked, faults, mailbox, logFolder, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface SideOptions extends Required<Omit<FederatedOptions, 'databaseUrls' | 'bug'>> {
  name: string;
  port: number;
  baseUrl: string;
  databaseUrl: string;
  folder: string;
  /** More than both sides have. */
  settings: Record<string, string>;
  bug?: string | undefined;
}

async function createSide(options: SideOptions): Promise<Side & { stop(): Promise<void> }> {
  const { name, port, baseUrl, databaseUrl, folder, logFolder, settings, bug, random } = options;
  const direct = new URL(databaseUrl);
  const proxy = await startPostgresProxy({ target: () => Number(direct.port), random });
  const through = new URL(databaseUrl);
  through.host = `127.0.0.1:${proxy.port}`;
  const process = createServiceProcess({
    name,
    service: name,
    bug,
    program: 'services/standalone.ts',
    logFolder,
    environment: {
      PORT: String(port),
      BASE_URL: baseUrl,
      DATABASE_URL: through.href,
      DATA_DIR: path.join(folder, name),
      INSTANCE_NAME: name,
      LOG_LEVEL: 'info',
      RATE_LIMITS: 'off',
      MAX_EVENT_LOOP_DELAY: '0',
      ...settings,
    },
    isReady: async () => (await fetch(`http://localhost:${port}/readyz`)).status === 200,
  });
  return {
    process,
    proxy,
    baseUrl,
    databaseUrl,
    forgotten: [],
    rotateKeys: () => runTool(['services/keys.ts', 'rotate', path.join(folder, name, 'secrets')], {}, bug),
    async stop() {
      process.resume();
      await process.kill();
      await proxy.close();
    },
  };
}

/** The owner shares a question with free text, so that each answer can be told from all others. */
async function makeThemPeers(leader: Side, owner: Side): Promise<Pick<FederatedWorld, 'headers' | 'asked'>> {
  const [here, there] = [leader, owner].map(({ baseUrl: url }) => ({ url, fetch: contractFetch(url) })) as [
    Parameters<typeof createKey>[0],
    Parameters<typeof createKey>[0],
  ];
  const admin = await signIn(there, 'admin');
  const { id, key } = await makeLiveModel(admin, 'preference', {
    en: { label: 'What is to be known?', valueType: 'FREE_TEXT', optional: false },
  });
  const shared = await admin.send('PUT', `/models/${id}`, { name: 'For the owner alone', shared: true });
  if (!shared.ok) throw new Error(`the question is not shared: ${await shared.text()}`);
  await pairInstances(here, there);
  const caller = await createKey(here);
  const theirs = `${key}@${new URL(owner.baseUrl).host}`;
  await waitUntil('the leader knows what the owner asks', async () => {
    const layoutData = { elements: ['processing.001', theirs] };
    return (await caller.send('POST', '/consents', { subject: 'nobody', layoutData })).status === 201;
  });
  return { headers: caller.headers, asked: { own: 'processing.001', theirs, key } };
}

/** A PostgreSQL of a run's own, for runs outside of the test suite. */
export interface OwnDatabases {
  urls: readonly [leader: string, owner: string];
  stop(): Promise<void>;
}

/** Two empty databases; their owner is no superuser, as in production. */
export async function startOwnDatabases(): Promise<OwnDatabases> {
  const server = await startTestPostgres();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('CREATE ROLE accord LOGIN CREATEDB CREATEROLE');
  for (const name of ['leader', 'owner']) await client.query(`CREATE DATABASE ${name} OWNER accord`);
  await client.end();
  const urlOf = (name: string) => {
    const url = new URL(server.url);
    url.username = 'accord';
    url.pathname = `/${name}`;
    return url.href;
  };
  return { urls: [urlOf('leader'), urlOf('owner')], stop: server.stop };
}
