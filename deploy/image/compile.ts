import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { keptTexts } from '#lib/cache/keep-text.ts';
import { definitions } from '../../services/definitions.ts';

// `node deploy/image/compile.ts <folder>` in the folder of the image's files: starts every service up to the
// point where it waits for its database, so that Node.js stores the compiled code in the folder, and compiles
// the templates of all pages.

const limitMs = 120_000;
const services = definitions.map(({ name }) => name);
/** Addresses where nothing listens. */
const settings = {
  HOST: '127.0.0.1',
  PORT: '0',
  INTERNAL_PORT: '0',
  STOP_DELAY: '0',
  BASE_URL: 'http://localhost:8080',
  DATABASE_URL: 'postgresql://127.0.0.1:1/accord',
  KAFKA_BROKERS: '127.0.0.1:1',
  REDIS_URL: 'redis://127.0.0.1:1',
  // Without it services do not load the export of traces.
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
  ...Object.fromEntries(services.map((name) => [`${name.toUpperCase()}_INTERNAL_URL`, 'http://127.0.0.1:1'])),
};

const folder = path.resolve(process.argv[2] ?? 'compiled');
const secrets = await mkdtemp(path.join(tmpdir(), 'accord-secrets-'));
try {
  await run(['secrets', secrets], /All secrets are in/);
  for (const name of services) await run([name], /waiting for npm run migrate/, folder);
} finally {
  await rm(secrets, { recursive: true, force: true });
}
for (const { load } of definitions) (await load()).loadPages?.();
for (const each of [folder, fileURLToPath(keptTexts)]) await openToAll(each);

/** Runs a program and ends it after it has written the text. @throws Error if it ends before that */
async function run(words: readonly string[], text: RegExp, compiled?: string): Promise<void> {
  const { PATH } = process.env;
  const given = { PATH, NODE_ENV: 'production', SECRETS_DIR: secrets, ...settings };
  const env = compiled ? { ...given, NODE_COMPILE_CACHE: compiled } : given;
  const child = spawn('accord', words, { env, timeout: limitMs });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
      if (text.test(output)) child.kill('SIGTERM');
    });
  await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (!text.test(output)) throw new Error(`accord ${words.join(' ')}: ${output}`);
}

/** Node.js stores compiled code for its own user only, and a builder may have a umask of its own. */
async function openToAll(place: string): Promise<void> {
  await chmod(place, 0o755);
  for (const entry of await readdir(place, { recursive: true, withFileTypes: true }))
    await chmod(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o444);
}
