import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { programEnvironment } from '../instances/program-environment.ts';

const program = path.join(import.meta.dirname, '..', '..', '..', 'services', 'import.ts');

/**
 * When a program is killed, as seen from a request with rows: before the instance gets it, while the instance
 * works on it, when it has stored it and not answered yet, and when the program has the answer.
 */
export type Moment = 'before' | 'during' | 'stored' | 'answered';

/**
 * Runs `npm run import` and kills it (SIGKILL) at a moment of its n-th request with rows.
 * @param target the instance that takes the rows over. @returns whether it came that far.
 */
export async function killImport(
  args: readonly string[],
  {
    target,
    env,
    request,
    moment,
  }: { target: string; env: Record<string, string>; request: number; moment: Moment },
): Promise<boolean> {
  let child: ChildProcess | undefined;
  let count = 0;
  let isKilled = false;
  const arrive = (now: Moment, number: number) => {
    if (number !== request || now !== moment) return;
    isKilled = true;
    child?.kill('SIGKILL');
  };
  const gateway = createServer(async (incoming, response) => {
    const body = await buffer(incoming);
    const isRows = incoming.url?.startsWith('/records/import') === true;
    if (isRows) count += 1;
    const number = isRows ? count : 0;
    arrive('before', number);
    if (isKilled) return void response.destroy();
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = incoming.headers;
    const forwarded = fetch(`${target}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    });
    arrive('during', number);
    const answer = await forwarded;
    const text = Buffer.from(await answer.arrayBuffer());
    arrive('stored', number);
    response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? '' });
    response.end(text, () => arrive('answered', number));
  });
  await once(gateway.listen(0, '127.0.0.1'), 'listening');
  const { port } = gateway.address() as AddressInfo;
  child = spawn(process.execPath, [program, ...args], {
    env: { ...programEnvironment, ...env, ACCORD_URL: `http://127.0.0.1:${port}` },
    stdio: 'ignore',
  });
  await once(child, 'exit');
  gateway.close();
  gateway.closeAllConnections();
  return isKilled;
}
