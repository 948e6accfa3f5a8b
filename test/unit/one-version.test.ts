import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };
const lock = JSON.parse(read('package-lock.json')) as {
  version: string;
  packages: Record<string, { version: string; hasInstallScript?: boolean }>;
};

describe('the version', () => {
  it('is one number in the package, the contracts and the image that is run', () => {
    expect(lock.version).toBe(version);
    expect(lock.packages['']?.version).toBe(version);
    expect(parse(read('openapi.yaml')).info.version).toBe(version);
    expect(parse(read('asyncapi.yaml')).info.version).toBe(version);
    expect(read('deploy/compose.yaml')).toContain(`image: accord:${version}\n`);
  });
});

describe('npm ci', () => {
  it('runs no install script of a dependency: every one has been reviewed and is named as not allowed', () => {
    const scripted = Object.entries(lock.packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    const reviewed = JSON.parse(read('package.json')).allowScripts as Record<string, boolean>;
    expect(Object.keys(reviewed).sort()).toEqual(scripted.sort());
    expect(Object.values(reviewed).every((allowed) => !allowed)).toBe(true);
    expect(read('.npmrc')).toContain('strict-allow-scripts=true');
  });
});
