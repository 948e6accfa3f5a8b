import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import {
  type GivenSettings,
  resolveSettings,
  type SettingSources,
  type SettingValues,
} from '#lib/config/instance-settings.ts';
import type { EventData } from '#lib/contracts/events.gen.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { type EventBus, sharedReader } from '#lib/events/event-bus.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** The instance as it is set now: read each member when it is used, and copy none. */
export type Instance = { readonly baseUrl: string } & Readonly<SettingValues>;

/** What the database says, with the number of the change that brought it; 0: nothing was set yet. */
export interface StoredSettings {
  version: number;
  settings: GivenSettings;
}

/** The settings of the instance that this process goes by (ADR 39). */
export interface LiveSettings {
  instance: Instance;
  sources(): SettingSources;
  /** Applies stored settings, unless their version is older than the current one. */
  accept(stored: StoredSettings): void;
}

export function createLiveSettings({
  baseUrl,
  pinned,
  defaults,
}: { baseUrl: string } & Pick<SettingSources, 'pinned' | 'defaults'>): LiveSettings {
  let known: StoredSettings = { version: 0, settings: {} };
  const sources = () => ({ pinned, defaults, stored: known.settings });
  let values = resolveSettings(sources());
  const members = Object.keys(defaults) as (keyof SettingValues)[];
  const instance = Object.defineProperties(
    { baseUrl },
    Object.fromEntries(members.map((name) => [name, { enumerable: true, get: () => values[name] }])),
  );
  return {
    instance: instance as Instance,
    sources,
    accept(stored) {
      if (stored.version <= known.version) return;
      known = stored;
      values = resolveSettings(sources());
    },
  };
}

/** Reads the settings, or their copy, in the schema of a service. */
export async function readStoredSettings(db: Queries): Promise<StoredSettings> {
  const row = await db.maybeOne<{ version: number; settings: GivenSettings }>(sql`
    SELECT s.version::integer AS version, s.settings FROM instance_settings AS s`);
  return row ?? { version: 0, settings: {} };
}

/** Stores the settings, or their copy, unless a later version is stored. */
export async function storeSettings(db: Queries, { version, settings }: StoredSettings): Promise<void> {
  await db.query(sql`
    INSERT INTO instance_settings AS s (version, settings) VALUES (${version}, ${JSON.stringify(settings)}::jsonb)
    ON CONFLICT (single) DO UPDATE SET version = excluded.version, settings = excluded.settings
     WHERE s.version < excluded.version`);
}

const rereadMs = 3_000;

/** Keeps the settings of a process up to date. */
export interface SettingsFollower {
  /** Has a service keep a copy, so that it starts without the service that owns them. */
  follow(service: string, db: Database): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/**
 * Follows changes of the settings. A service stores each in its own schema, by one of its replicas, and its
 * other replicas read it from there.
 * @param isShared whether there may be other processes.
 */
export function createSettingsFollower({
  live,
  bus,
  log,
  isShared,
}: {
  live: Pick<LiveSettings, 'accept'>;
  bus: Pick<EventBus, 'subscribe'>;
  log: Logger;
  isShared: boolean;
}): SettingsFollower {
  const followed: Database[] = [];
  const rereading: RepeatedWork = createRepeatedWork({
    everyMs: rereadMs,
    async work() {
      for (const db of followed) live.accept(await readStoredSettings(db));
    },
    onError: (error) => log.warn('failed to read the settings of the instance; retried', { error }),
  });
  return {
    async follow(service, db) {
      live.accept(await readStoredSettings(db));
      bus.subscribe('accord.settings', sharedReader({ name: service, db }), async ({ data }) => {
        const changed = data as EventData['io.accord.settings.updated.v1'];
        await storeSettings(db, changed);
        live.accept(changed);
      });
      followed.push(db);
    },
    start() {
      if (isShared) rereading.start();
    },
    stop: () => rereading.stop(),
  };
}
