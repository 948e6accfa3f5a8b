import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { generatePrivateKey } from '#lib/config/secret-values.ts';
import { freePort } from '#lib/db/embedded/postmaster.ts';

/** A second issuer, in a process of its own. */
export interface OutsideIssuer {
  url: string;
  audience: string;
  /** A token of somebody it knows: jane, boss, guest, una, uri; `elsewhere` gets one for another audience. */
  tokenOf(name: string): Promise<string>;
  /** @param consoleClient what the issuer knows of the console; absent: nothing. */
  start(consoleClient?: ConsoleClient): Promise<void>;
  stop(): Promise<void>;
  /** Takes another signing key, and forgets the former one. */
  rotate(): Promise<void>;
}

/** The client accord-console at the issuer. */
export interface ConsoleClient {
  secret: string;
  /** Of the instance. */
  baseUrl: string;
  hasRefreshTokens: boolean;
  /** How long access tokens are valid. */
  tokenSeconds: number;
}

const program = join(import.meta.dirname, 'outside-issuer-program.ts');

/** @param path of its name, which may end with a slash. */
export async function createOutsideIssuer(path = ''): Promise<OutsideIssuer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}${path}`;
  let keys = [newKey()];
  let child: ChildProcess | undefined;
  const issuer: OutsideIssuer = {
    url,
    audience: 'https://api.example.org/accord',
    async tokenOf(name) {
      const credentials = Buffer.from(`${name}:a+secret+of+the+outside+issuer`).toString('base64');
      const response = await fetch(`${url.replace(/\/$/, '')}/token`, {
        method: 'POST',
        headers: { Authorization: `Basic ${credentials}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      });
      return ((await response.json()) as { access_token: string }).access_token;
    },
    async start(consoleClient) {
      child = fork(program, {
        env: { ...process.env, OUTSIDE_ISSUER: JSON.stringify({ url, keys, consoleClient }) },
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
      if (message !== 'ready') throw new Error('The outside issuer does not start.');
    },
    async stop() {
      const running = child;
      child = undefined;
      if (!running) return;
      const ended = once(running, 'exit');
      running.kill('SIGKILL');
      await ended;
    },
    async rotate() {
      await issuer.stop();
      keys = [newKey()];
      await issuer.start();
    },
  };
  return issuer;
}

function newKey(): object {
  const key = JSON.parse(generatePrivateKey()) as object;
  return { ...key, alg: 'ES256', use: 'sig', kid: Math.random().toString(36).slice(2) };
}
