import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readPrivateKey } from '#lib/config/secret-values.ts';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { readCheckpointText, writeUpdate } from '#lib/witness/checkpoint-note.ts';
import { readNote } from '#lib/witness/note.ts';
import { createNoteSigner } from '#lib/witness/note-signer.ts';
import { findProgram } from '../infrastructure/programs.ts';
import { signIn } from '../support/instances/callers.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { runProgram } from './workshop.ts';

// `npm run test:witness`: an independent witness (transparency-dev/witness, made from its Go module) cosigns
// the log of an instance, and refuses another history of it. Where there is no Go it says so.
const version = 'v0.0.0-20260720115447-2e1c6971d19e';
const module = 'github.com/transparency-dev/witness/cmd';
const say = (line: string) => process.stdout.write(`${line}\n`);
const folder = await mkdtemp(path.join(tmpdir(), 'accord-witness-'));
await chmod(folder, 0o755);
const data = path.join(folder, 'data');
let witness: ChildProcess | undefined;
process.once('exit', () => witness?.kill('SIGKILL'));

if (findProgram('go')) await tryWitness();
else {
  say('NOT TRIED: the witness of transparency-dev, because go is not found on PATH');
  if (process.env.CI === 'true') process.exitCode = 1;
}
await rm(folder, { recursive: true, force: true });

async function tryWitness(): Promise<void> {
  const bin = process.env.WITNESS_BIN ?? (await build());
  const port = await freePort();
  const address = { DATA_DIR: data, PORT: String(port), BASE_URL: `http://localhost:${port}` };
  const first = startStandalone(address);
  const url = await first.ready;
  await first.stop();
  const signer = createNoteSigner(url, await readKeys());
  const { address: witnessUrl, key } = await startWitness(
    bin,
    signer.originOf('auth'),
    signer.logKeys('auth')[0],
  );
  const accord = startStandalone({ ...address, WITNESS_URL: `${witnessUrl}#${key}` });
  try {
    await accord.ready;
    const reachable = { url, fetch: (to: string, init?: RequestInit) => fetch(new URL(to, url), init) };
    const admin = await signIn(reachable, 'admin');
    const name = key.split('+', 1)[0];
    const cosigned = (size: number) =>
      until(async () => {
        const text = await (await admin.get('/audit/checkpoints/auth')).text();
        return text.includes(`— ${name} `) && Number(text.split('\n')[1]) >= size ? text : undefined;
      });
    const addKey = () => admin.send('POST', '/keys', { name: 'one more', scope: 'OWNER' });
    await addKey();
    await cosigned(1);
    for (let key = 0; key < 3; key += 1) await addKey();
    const note = await cosigned(4);
    say(`cosigned by transparency-dev/witness ${version}:\n${note}`);
    await plantFork(witnessUrl, note, signer);
    say('it refuses another history of the same log');
  } finally {
    await accord.stop();
    witness?.kill('SIGKILL');
  }
}

async function build(): Promise<string> {
  say(`building transparency-dev/witness ${version}`);
  const env = { GOBIN: folder, GOFLAGS: '-mod=mod' };
  for (const program of ['omniwitness', 'generate_keys'])
    await runProgram(['go', 'install', `${module}/${program}@${version}`], { cwd: folder, env });
  return folder;
}

async function readKeys() {
  const text = await readFile(path.join(data, 'secrets', 'instance-signing'), 'utf8');
  return text.trim().split('\n').map(readPrivateKey);
}

/** @returns where it listens, and its key. */
async function startWitness(bin: string, origin: string, logKey = '') {
  const [secret, open, logs] = ['key', 'key.pub', 'logs.yaml'].map((name) => path.join(folder, name));
  const cwd = folder;
  const name = 'witness.example.org/w1';
  const program = path.join(bin, 'generate_keys');
  await runProgram([program, `--origin=${name}`, `--out_priv=${secret}`, `--out_pub=${open}`], { cwd });
  const log = { Origin: origin, URL: 'http://localhost', PublicKey: logKey, Feeder: 'none' };
  // JSON is YAML.
  await writeFile(logs ?? '', JSON.stringify({ Logs: [log] }));
  const port = await freePort();
  witness = spawn(
    path.join(bin, 'omniwitness'),
    [
      `--listen=127.0.0.1:${port}`,
      '--metrics_listen=',
      `--private_key_path=${secret}`,
      `--additional_logs=${logs}`,
    ],
    { cwd, stdio: 'inherit' },
  );
  const key = (await readFile(open ?? '', 'utf8')).trim();
  return { address: `http://localhost:${port}`, key };
}

/** Another root at the size that the witness knows, signed with the key of the log. */
async function plantFork(
  to: string,
  text: string,
  signer: ReturnType<typeof createNoteSigner>,
): Promise<void> {
  const head = readCheckpointText(readNote(text)?.text ?? '');
  if (!head) throw new Error('the note has no checkpoint');
  const note = signer.signHead('auth', { size: head.size, root: Buffer.alloc(32, 7) });
  const body = writeUpdate({ old: head.size, proof: [], note });
  const { status } = await fetch(`${to}/add-checkpoint`, { method: 'POST', body });
  if (status !== 422 && status !== 409) throw new Error(`the fork was answered with ${status}`);
}

async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 0; attempt < 120; attempt += 1) {
    const found = await find();
    if (found !== undefined) return found;
    await wait(2_000);
  }
  throw new Error('the log was not cosigned within four minutes');
}
