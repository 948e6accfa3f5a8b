import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';

/** The connections of a client: kept for the next request to the same host, so many in all. */
export interface Connections {
  agentFor(target: { secure: boolean }): http.Agent;
  close(): void;
}

interface Options {
  lookup: LookupFunction;
  /** Certificates of the authorities to trust instead of those that come with Node. */
  ca: string | undefined;
  limits: { perHost: number; inAll: number };
}

/** How long a connection is kept for the next request; a server that keeps it shorter says so, and is heeded. */
const idleMs = 4_000;

export function createConnections({ lookup, ca, limits }: Options): Connections {
  const pool = {
    ...{ keepAlive: true, timeout: idleMs, maxSockets: limits.perHost, lookup },
    // Node's 250 ms for each address of a name but the last are less than a way around the earth and back may take.
    autoSelectFamilyAttemptTimeout: 800,
  };
  const plain = new http.Agent(pool);
  // Said here, it holds whatever NODE_TLS_REJECT_UNAUTHORIZED says.
  const secure = new https.Agent({ ...pool, rejectUnauthorized: true, ...(ca ? { ca } : {}) });

  /** Node's own limit over all hosts lets a request wait for as long as others' idle connections last. */
  function makeRoom(): void {
    const idle = [plain, secure].flatMap(({ freeSockets }) => open(freeSockets));
    const busy = [plain, secure].flatMap(({ sockets }) => open(sockets));
    const surplus = Math.max(0, idle.length + busy.length + 1 - limits.inAll);
    for (const socket of idle.slice(0, surplus)) socket.destroy();
  }

  return {
    agentFor(target) {
      makeRoom();
      return target.secure ? secure : plain;
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

function open(sockets: http.Agent['sockets']) {
  return Object.values(sockets).flatMap((each) => (each ?? []).filter(({ destroyed }) => !destroyed));
}
