import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const deploy = path.join(import.meta.dirname, '..', '..', '..', 'deploy');

/** A service of compose.yaml. */
export interface ComposeService {
  image: string;
  build?: unknown;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: { type: string; source: string; target: string; read_only?: boolean }[];
  networks?: Record<string, { ipv4_address?: string }>;
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  scale?: number;
}

interface ComposeFile {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean; ipam?: { config: { subnet: string; ip_range: string }[] } }>;
  volumes: Record<string, unknown>;
}

/**
 * deploy/compose.yaml with resolved anchors, defaults of the environment, and networks as objects.
 */
export function readCompose(): ComposeFile {
  const document = parse(readFileSync(path.join(deploy, 'compose.yaml'), 'utf8'), { merge: true });
  const compose = JSON.parse(JSON.stringify(document), withDefaults) as ComposeFile;
  for (const service of Object.values(compose.services))
    if (Array.isArray(service.networks))
      service.networks = Object.fromEntries(service.networks.map((name: string) => [name, {}]));
  return compose;
}

/** Replaces `${NAME:-default}` by its default. */
function withDefaults(_: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1') : value;
}

/** The environment of a container of the service, with defaults; mounted folders are those of the project. */
export function environmentIn({ environment = {}, volumes = [] }: ComposeService): Record<string, string> {
  const mounted = new Map(
    volumes.flatMap(({ type, source, target }) =>
      type === 'bind' ? [[target, path.join(deploy, source)] as const] : [],
    ),
  );
  const image = readFileSync(path.join(deploy, 'Dockerfile'), 'utf8').matchAll(/^ENV (\w+)=(\S+)$/gm);
  return {
    ...Object.fromEntries([...image].map(([, name, value]) => [name, value])),
    ...Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, mounted.get(value) ?? String(value)]),
    ),
  };
}
