import pg from 'pg';
import type { Loss, PostgresProxy } from '../proxy/postgres-proxy.ts';
import type { ChaosPostgres } from '../world/database.ts';
import { atOnce, type Fault } from './fault.ts';

const breaks = 'PostgreSQL';

/** What happens to PostgreSQL, and on the way to it. */
export function postgresFaults({
  postgres,
  proxy,
}: {
  postgres: ChaosPostgres;
  proxy: PostgresProxy;
}): Fault[] {
  return [
    {
      name: 'PostgreSQL killed',
      breaks,
      lasts: [0, 1_000],
      async strike() {
        await postgres.kill();
        return postgres.start;
      },
    },
    {
      name: 'PostgreSQL paused',
      breaks,
      lasts: [500, 8_000],
      async strike() {
        await postgres.pause();
        return postgres.resume;
      },
    },
    {
      name: 'PostgreSQL behind a silent network',
      breaks,
      lasts: [500, 8_000],
      async strike() {
        proxy.hold();
        return async () => proxy.release();
      },
    },
    {
      name: 'connections to PostgreSQL cut',
      breaks,
      lasts: atOnce,
      async strike() {
        proxy.cut();
        return async () => {};
      },
    },
    {
      name: 'PostgreSQL out of connections',
      breaks,
      lasts: [500, 3_000],
      strike: () => takeAllConnections(postgres.url, proxy),
    },
    lostReplies(proxy, { percent: 20, as: 'cut' }),
    lostReplies(proxy, { percent: 3, as: 'silence' }),
  ];
}

/** The reply to COMMIT, or to a statement that is its own transaction. */
function lostReplies(proxy: PostgresProxy, loss: Loss): Fault {
  const how = loss.as === 'cut' ? 'connection cut' : 'silence';
  return {
    name: `reply lost after COMMIT (${how})`,
    breaks,
    lasts: [1_000, 4_000],
    async strike() {
      proxy.loseReplies(loss);
      return async () => proxy.loseReplies();
    },
  };
}

/** Every connection that there is: also those that services had, which are broken for that. */
async function takeAllConnections(url: string, proxy: PostgresProxy): Promise<() => Promise<void>> {
  const held: pg.Client[] = [];
  for (let round = 0; round < 2; round += 1) {
    for (let client = await tryToConnect(url); client; client = await tryToConnect(url)) held.push(client);
    proxy.cut();
  }
  return async () => void (await Promise.all(held.map((client) => client.end())));
}

async function tryToConnect(connectionString: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {});
  return client.connect().then(
    () => client,
    () => undefined,
  );
}
