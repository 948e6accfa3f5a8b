import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadSecrets } from '#lib/config/secrets.ts';
import { readServiceSettings } from '#lib/config/settings.ts';
import { neighbourSetting, serviceSpecs } from '#lib/config/specs.ts';
import { definitions } from '../../services/definitions.ts';
import { type ComposeService, environmentIn, readCompose } from '../support/contract/compose-file.ts';
import { composeSchema } from '../support/contract/compose-schema.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const project = path.join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(project, file), 'utf8');

const compose = readCompose();
const services = Object.entries(compose.services);
/** Every service that can run as a process of its own. */
const programs = readdirSync(path.join(project, 'services')).filter((name) =>
  existsSync(path.join(project, 'services', name, 'main.ts')),
);
/** Connections at most of one process (lib/db/pool.ts). */
const poolSize = 10;
const router = read('deploy/nginx.conf');
const networksOf = (name: string) => Object.keys(compose.services[name]?.networks ?? {});

describe('deploy/compose.yaml', () => {
  it('uses only known keys, hardened containers and pinned versions', () => {
    const validate = new Ajv({ allErrors: true, strict: true }).compile(composeSchema);
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
  });

  it('has two of every service, which wait for migrations and topics and tell whether they are ready', () => {
    expect(programs.length).toBeGreaterThan(3);
    for (const name of programs) {
      const service = compose.services[name] as ComposeService;
      expect(service, name).toMatchObject({ scale: 2, command: [name] });
      expect(service.healthcheck, name).toBeDefined();
      for (const job of ['migrate', 'topics'])
        expect(service.depends_on?.[job]?.condition).toBe('service_completed_successfully');
    }
  });

  it('publishes the router and nothing else', () => {
    expect(services.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['router']);
  });

  it('keeps database, broker and cache in the internal network', () => {
    for (const name of ['postgres', 'kafka', 'redis']) expect(networksOf(name)).toEqual(['back']);
    expect(networksOf('router')).toEqual(['front']);
    expect(compose.networks.back).toEqual({ internal: true });
  });

  it('trusts only the router for the address of a client', () => {
    const { ipam } = compose.networks.front ?? {};
    const [front = { subnet: '', ip_range: '' }] = ipam?.config ?? [];
    const address = compose.services.router?.networks?.front?.ipv4_address ?? '';
    expect(ipaddr.parse(address).match(ipaddr.parseCIDR(front.subnet) as never)).toBe(true);
    // No container that comes and goes is given the router's address.
    expect(ipaddr.parse(address).match(ipaddr.parseCIDR(front.ip_range) as never)).toBe(false);
    for (const definition of definitions) {
      const service = compose.services[definition.name] as ComposeService;
      const { settings } = readServiceSettings(definition, environmentIn(service));
      expect(settings.TRUSTED_PROXIES, definition.name).toEqual([`${address}/32`]);
    }
  });

  it('gives every container the secrets that it reads and no others', async () => {
    const folder = await temporaryFolder();
    const [all, shares] = [path.join(folder, 'all'), path.join(folder, 'shares')];
    expect(await runCommand('services/secrets.ts', [all, shares], { env: {} })).toMatchObject({ code: 0 });
    const { services: containers } = compose;
    const source = ({ volumes = [] }: ComposeService, target: string) =>
      volumes.find((volume) => volume.target === target);
    const job = containers.secrets as ComposeService;
    const volumeOf = (share: string) => source(job, `/shares/${share}`)?.source;
    for (const { name, secrets, callers } of definitions) {
      const mount = source(containers[name] as ComposeService, '/secrets');
      expect(mount, name).toMatchObject({ source: volumeOf(name), read_only: true });
      const who = [...new Set([name, ...Object.values(callers).flat()])];
      const own = path.join(shares, name);
      await loadSecrets({ folder: own, names: secrets, callers: who, generate: false });
      expect(readdirSync(own), name).toContain(`database-${name}`);
      expect(readdirSync(own), name).toHaveLength(secrets.length + who.length + 1);
    }
    expect(source(containers.migrate as ComposeService, '/secrets')?.source).toBe(volumeOf('migrate'));
    expect(source(containers.postgres as ComposeService, '/secrets')?.source).toBe(volumeOf('postgres'));
    expect(readdirSync(path.join(shares, 'postgres'))).toEqual(['database-owner']);
    for (const file of readdirSync(path.join(shares, 'migrate'))) expect(file).toMatch(/^database-/);
    const holdersOfAll = services.filter(([, { volumes = [] }]) =>
      volumes.some((each) => each.source === 'secrets'),
    );
    expect(holdersOfAll.map(([name]) => name)).toEqual(['secrets']);
    expect(job).toMatchObject({ network_mode: 'none', command: ['secrets', '/secrets', '/shares'] });
    const places = (job.volumes ?? []).map(({ target }) => target);
    for (const place of places) expect(read('deploy/Dockerfile').split(/\s+/)).toContain(place);
    expect(new Set((job.volumes ?? []).map((each) => each.source)).size).toBe(places.length);
  });

  it('refers only to existing networks, volumes, files and services', () => {
    for (const [name, service] of services) {
      for (const network of networksOf(name)) expect(compose.networks, name).toHaveProperty(network);
      for (const other of Object.keys(service.depends_on ?? {}))
        expect(compose.services, name).toHaveProperty(other);
      for (const { type, source } of service.volumes ?? [])
        if (type === 'volume') expect(compose.volumes, name).toHaveProperty(source);
        else expect(existsSync(path.join(project, 'deploy', source)), source).toBe(true);
    }
  });

  it('has no password in it', () => {
    for (const [name, { environment = {} }] of services)
      for (const [key, value] of Object.entries(environment))
        if (/PASSWORD|SECRET|TOKEN/.test(key))
          expect([name, value]).toEqual([name, expect.stringMatching(/^\/secrets\//)]);
        else expect(URL.parse(value)?.password ?? '', `${name} ${key}`).toBe('');
  });

  it('waits only for containers that end or have a health check', () => {
    for (const [name, { depends_on = {} }] of services)
      for (const [other, { condition }] of Object.entries(depends_on)) {
        const { healthcheck } = compose.services[other] as ComposeService;
        if (condition === 'service_healthy') expect(healthcheck, `${name} waits for ${other}`).toBeDefined();
        if (condition === 'service_completed_successfully') expect(healthcheck, other).toBeUndefined();
      }
  });

  it('has enough database connections for twice the replicas', () => {
    const given = /max_connections=(\d+)/.exec(compose.services.postgres?.command?.join(' ') ?? '')?.[1];
    const pools = programs.map((name) => (compose.services[name]?.scale ?? 1) * poolSize);
    expect(Number(given)).toBeGreaterThanOrEqual(2 * pools.reduce((sum, each) => sum + each, 0) + 10);
  });

  it.each(definitions.map((definition) => [definition.name, definition] as const))(
    'gives %s settings that it takes, and addresses at which the others are',
    (name, definition) => {
      const service = compose.services[name] as ComposeService;
      const { settings, addressesOf } = readServiceSettings(definition, environmentIn(service));
      expect(settings).toMatchObject({ HOST: '0.0.0.0', PORT: 8080, INTERNAL_PORT: 8081, DEMO: undefined });
      for (const other of definition.calls)
        expect(addressesOf(other), other).toEqual([`http://${other}:${settings.INTERNAL_PORT}`]);
      const [, , , program] = service.healthcheck?.test ?? [];
      expect(program).toContain(`http://127.0.0.1:${settings.INTERNAL_PORT}/readyz`);
      expect(router).toContain(`server ${name}:${settings.PORT} resolve`);
    },
  );

  it('passes the settings of mail and SMS to the services that send alone, because they contain passwords', () => {
    const { specs } = definitions.find(({ name }) => name === 'transactions') as (typeof definitions)[number];
    const settings = Object.keys(specs).filter((name) => /^(MAIL|SMS|CODE|MESSAGE)_/.test(name));
    expect(settings).toContain('MAIL_URL');
    for (const [name, { environment = {} }] of services)
      expect(
        settings.filter((setting) => setting in environment),
        name,
      ).toEqual(name === 'transactions' ? settings : name === 'auth' ? ['MAIL_URL', 'MAIL_CA'] : []);
  });

  it('sets only known variables', () => {
    const specs = [serviceSpecs, ...definitions.map((definition) => definition.specs)];
    const read = new Set([
      ...specs.flatMap((each) => Object.keys(each)),
      ...definitions.map(({ name }) => neighbourSetting(name)),
    ]);
    for (const [name, { environment = {} }] of services.filter(([, { build }]) => build))
      expect(
        Object.keys(environment).filter((setting) => !read.has(setting)),
        name,
      ).toEqual([]);
  });

  it('runs what the image can run', () => {
    for (const [name, { command = [] }] of services.filter(([, { build }]) => build)) {
      const programs = [`services/${command[0]}/main.ts`, `services/${command[0]}.ts`];
      expect(
        programs.some((program) => existsSync(path.join(project, program))),
        name,
      ).toBe(true);
    }
  });

  it('finds database, broker and cache where they listen, and the contract’s open page when it asks the router', () => {
    const { DATABASE_URL, KAFKA_BROKERS, REDIS_URL } = environmentIn(compose.services.auth as ComposeService);
    expect([DATABASE_URL, REDIS_URL]).toEqual(['postgresql://postgres:5432/accord', 'redis://redis:6379']);
    expect(read('deploy/kafka.properties')).toContain(`advertised.listeners=PLAINTEXT://${KAFKA_BROKERS}`);
    expect(read('deploy/postgres-init.sh')).toContain('CREATE DATABASE accord OWNER accord');
    const [asked] = /http:\/\/127\.0\.0\.1:8080\S*/.exec(
      compose.services.router?.healthcheck?.test.join(' ') ?? '',
    ) ?? [''];
    const { paths } = parse(read('openapi.yaml')) as {
      paths: Record<string, { get?: { 'x-roles': object } }>;
    };
    expect(paths[new URL(asked).pathname]?.get?.['x-roles']).toHaveProperty('anonymous');
    expect(router).toMatch(/^\s*listen 8080 /m);
  });

  it('runs executable scripts', () => {
    for (const script of ['deploy/entrypoint.sh', 'deploy/postgres-init.sh'])
      expect(statSync(path.join(project, script)).mode & 0o111, script).toBe(0o111);
  });
});

describe('the router', () => {
  const routes = [
    ...router.matchAll(
      /^\s*location (\S+) \{ proxy_pass http:\/\/(\w+); (?:gzip off; |client_max_body_size 3m; )?\}$/gm,
    ),
  ].map(([, prefix, service]) => ({ prefix, service }));

  it('routes by path prefix only', () => {
    const lines = router.split('\n').filter((line) => /location/.test(line) && !line.trim().startsWith('#'));
    expect(lines).toHaveLength(routes.length);
    for (const { prefix } of routes) expect(prefix).toMatch(/^\/[a-z/.-]*$/);
    expect(router).not.toMatch(/if \(|rewrite|limit_except/);
  });

  it('sends every path of the contract to the service that has it', () => {
    const document = parse(read('openapi.yaml')) as {
      paths: Record<string, Record<string, { tags?: string[] }>>;
    };
    const longestFirst = routes.toSorted((a, b) => (b.prefix as string).length - (a.prefix as string).length);
    for (const [address, operations] of Object.entries(document.paths))
      for (const operation of Object.values(operations)) {
        const [tag] = operation.tags ?? [];
        if (!tag || !programs.includes(tag)) continue;
        const found = longestFirst.find(({ prefix }) => address.startsWith(prefix as string));
        expect(`${address} ${found?.service}`).toBe(`${address} ${tag}`);
      }
  });

  it('knows every replica of every service, and keeps connections to them', () => {
    const upstreams = [
      ...router.matchAll(
        /upstream (\w+) \{ zone \w+ 64k; server (\w+):8080 resolve max_fails=0; keepalive 64; \}/g,
      ),
    ];
    for (const [, name, server] of upstreams) expect(server).toBe(name);
    expect(upstreams.map(([, name]) => name).sort()).toEqual(
      [...new Set(routes.map(({ service }) => service))].sort(),
    );
  });

  it('logs requests only in its log format', () => {
    const levels = [...router.matchAll(/^\s*error_log \S+ ?(\w*);/gm)].map(([, level]) => level);
    expect(levels).toEqual(['alert']);
  });

  it('retries no sent request, and logs neither queries nor names', () => {
    expect(router).not.toMatch(/non_idempotent/);
    const format = /log_format plain '([^']+)'/.exec(router)?.[1];
    expect(format).not.toMatch(/\$(request|request_uri|uri|args|query_string|http_\w+)\b/);
  });
});
