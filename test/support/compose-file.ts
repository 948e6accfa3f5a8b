import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const deploy = path.join(import.meta.dirname, '..', '..', 'deploy');

/** A service of compose.yaml. */
export interface ComposeService {
  image: string;
  build?: unknown;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: { type: string; source: string }[];
  networks?: string[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  scale?: number;
}

/** deploy/compose.yaml, with its anchors in their places. */
export function readCompose() {
  return parse(readFileSync(path.join(deploy, 'compose.yaml'), 'utf8'), { merge: true }) as {
    services: Record<string, ComposeService>;
    networks: Record<string, unknown>;
    volumes: Record<string, unknown>;
  };
}

/** What a container of it has in its environment, when nobody has set anything else: `${NAME:-default}` is the default. */
export function environmentIn({ environment = {} }: ComposeService): Record<string, string> {
  const image = readFileSync(path.join(deploy, 'Dockerfile'), 'utf8').matchAll(/^ENV (\w+)=(\S+)$/gm);
  return {
    ...Object.fromEntries([...image].map(([, name, value]) => [name, value])),
    ...Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [
        name,
        String(value).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1'),
      ]),
    ),
  };
}
