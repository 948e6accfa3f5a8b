import { connect, createServer, type Socket } from 'node:net';
import type { Random } from '../random.ts';
import { watchSession } from './session.ts';

/** Which replies are lost, and how it looks. */
export interface Loss {
  /** Of all commits, how many in a hundred. */
  percent: number;
  /** `cut`: the connection breaks instead of the reply. `silence`: nothing comes any more. */
  as: 'cut' | 'silence';
  /** Only of statements like this. */
  of?: RegExp;
}

/** Stands between services and PostgreSQL, and does what networks do. */
export interface PostgresProxy {
  port: number;
  /** Breaks every connection. */
  cut(): void;
  /** Carries nothing and breaks nothing, until `release`. */
  hold(): void;
  release(): void;
  /**
   * What is committed stays so, and whoever asked never hears of it. @param loss nothing is lost any more if
   * absent, and connections that had fallen silent break.
   */
  loseReplies(loss?: Loss): void;
  /** How many replies were lost until now. */
  lost(): number;
  close(): Promise<void>;
}

interface Line {
  client: Socket;
  server: Socket;
}

/** Listens on a free loopback port. @param target port of PostgreSQL. */
export async function startPostgresProxy({
  target,
  random,
}: {
  target: () => number;
  random: Random;
}): Promise<PostgresProxy> {
  const lines = new Set<Line>();
  const silent = new Set<Socket>();
  let loss: Loss | undefined;
  let held = false;
  let lost = 0;
  const isLost = (text: string) =>
    loss !== undefined && (loss.of?.test(text) ?? true) && random.between(1, 100) <= loss.percent;

  function carry({ client, server }: Line): void {
    /** How the reply is lost that is awaited, if it is. */
    let losing: Loss['as'] | undefined;
    const session = watchSession({
      onCommitSent(text) {
        if (isLost(text)) losing = loss?.as;
      },
      onAnswered() {
        if (!losing) return;
        lost += 1;
        if (losing === 'cut') client.resetAndDestroy();
        else silent.add(client);
      },
    });
    client.on('data', (chunk) => {
      session.fromClient(chunk);
      server.write(chunk);
    });
    server.on('data', (chunk) => {
      session.fromServer(chunk);
      if (!losing) client.write(chunk);
    });
  }

  const listener = createServer((client) => {
    const server = connect(target(), '127.0.0.1');
    const line = { client, server };
    lines.add(line);
    client.setNoDelay();
    server.setNoDelay();
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => {}); // `close` follows.
      socket.on('close', () => {
        lines.delete(line);
        other.destroy();
      });
    }
    carry(line);
    if (held) for (const socket of [client, server]) socket.pause();
  });
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  const each = (act: (socket: Socket) => void) => {
    for (const { client, server } of lines) for (const socket of [client, server]) act(socket);
  };
  const address = listener.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    cut: () => each((socket) => void socket.resetAndDestroy()),
    hold() {
      held = true;
      each((socket) => void socket.pause());
    },
    release() {
      held = false;
      each((socket) => void socket.resume());
    },
    loseReplies(next) {
      loss = next;
      if (next) return;
      for (const client of silent) client.resetAndDestroy();
      silent.clear();
    },
    lost: () => lost,
    async close() {
      const closed = new Promise<void>((done) => listener.close(() => done()));
      each((socket) => void socket.destroy());
      await closed;
    },
  };
}
