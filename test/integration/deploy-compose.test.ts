import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { composeSchema } from '../support/compose-schema.ts';

const project = path.join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(project, file), 'utf8');

interface Service {
  image: string;
  build?: unknown;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: { type: string; source: string }[];
  networks?: string[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: unknown;
  scale?: number;
}

const compose = parse(read('deploy/compose.yaml'), { merge: true }) as {
  services: Record<string, Service>;
  networks: Record<string, unknown>;
  volumes: Record<string, unknown>;
};
const services = Object.entries(compose.services);
/** Every service that can run as a process of its own. */
const programs = readdirSync(path.join(project, 'services')).filter((name) =>
  existsSync(path.join(project, 'services', name, 'main.ts')),
);
/** Connections at most of one process (lib/db/pool.ts). */
const poolSize = 10;
const router = read('deploy/nginx.conf');

describe('deploy/compose.yaml', () => {
  it('uses nothing that it does not mean: every key is known, every container is locked down and of a certain version', () => {
    const validate = new Ajv({ allErrors: true, strict: true }).compile(composeSchema);
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
  });

  it('has two of every service, which wait for migrations and topics and tell whether they are ready', () => {
    expect(programs.length).toBeGreaterThan(3);
    for (const name of programs) {
      const service = compose.services[name] as Service;
      expect(service, name).toMatchObject({ scale: 2, command: [name] });
      expect(service.healthcheck, name).toBeDefined();
      for (const job of ['migrate', 'topics'])
        expect(service.depends_on?.[job]?.condition).toBe('service_completed_successfully');
    }
  });

  it('publishes the router and nothing else', () => {
    expect(services.filter(([, { ports }]) => ports).map(([name]) => name)).toEqual(['router']);
  });

  it('keeps database, broker and cache where no router comes', () => {
    for (const name of ['postgres', 'kafka', 'redis'])
      expect(compose.services[name]?.networks).toEqual(['back']);
    expect(compose.services.router?.networks).toEqual(['front']);
    expect(compose.networks.back).toEqual({ internal: true });
  });

  it('names only what there is: networks, volumes, files, services to wait for', () => {
    for (const [name, service] of services) {
      for (const network of service.networks ?? []) expect(compose.networks, name).toHaveProperty(network);
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

  it('lets what is waited for end or be healthy', () => {
    for (const [name, { depends_on = {} }] of services)
      for (const [other, { condition }] of Object.entries(depends_on)) {
        const { healthcheck } = compose.services[other] as Service;
        if (condition === 'service_healthy') expect(healthcheck, `${name} waits for ${other}`).toBeDefined();
        if (condition === 'service_completed_successfully') expect(healthcheck, other).toBeUndefined();
      }
  });

  it('has a database connection for everybody who may want one, also while twice as many replicas run', () => {
    const given = /max_connections=(\d+)/.exec(compose.services.postgres?.command?.join(' ') ?? '')?.[1];
    const pools = programs.map((name) => (compose.services[name]?.scale ?? 1) * poolSize);
    expect(Number(given)).toBeGreaterThanOrEqual(2 * pools.reduce((sum, each) => sum + each, 0) + 10);
  });

  it('runs scripts that may be run', () => {
    for (const script of ['deploy/entrypoint.sh', 'deploy/postgres-init.sh'])
      expect(statSync(path.join(project, script)).mode & 0o111, script).toBe(0o111);
  });
});

describe('the router', () => {
  const routes = [...router.matchAll(/^\s*location (\S+) \{ proxy_pass http:\/\/(\w+); \}$/gm)].map(
    ([, prefix, service]) => ({ prefix, service }),
  );

  it('knows path prefixes and nothing else', () => {
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

  it('says nothing of single requests but what its log format has: other levels than these quote whole addresses', () => {
    const levels = [...router.matchAll(/^\s*error_log \S+ ?(\w*);/gm)].map(([, level]) => level);
    expect(levels).toEqual(['alert']);
  });

  it('repeats nothing that has been sent, and logs neither queries nor names', () => {
    expect(router).not.toMatch(/non_idempotent/);
    const format = /log_format plain '([^']+)'/.exec(router)?.[1];
    expect(format).not.toMatch(/\$(request|request_uri|uri|args|query_string|http_\w+)\b/);
  });
});
