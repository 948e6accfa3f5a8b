import { createRequire } from 'node:module';
import { keepText } from './keep-text.ts';

/**
 * Reads documents of YAML. They are cached as JSON, which is read in 1 ms where the YAML takes 48 ms of a
 * start.
 * @param name of the cached text.
 */
export function keepYaml<T>(name: string, sources: readonly string[]): T[] {
  const json = keepText({
    name,
    sources,
    make() {
      const { parse } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
      return JSON.stringify(sources.map((each) => parse(each) as unknown));
    },
  });
  return JSON.parse(json) as T[];
}
