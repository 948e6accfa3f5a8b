import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import type { Rewrite } from './bug.ts';
import { bugs } from './bugs.ts';

// Preloaded into a process (`node --import`): plants the bug that PLANTED_BUG names in bugs.ts. The code
// itself stays as it is: statements are changed on their way to PostgreSQL, exports of modules when they are
// loaded.

const root = path.join(import.meta.dirname, '..', '..', '..');
const bug = bugs[process.env.PLANTED_BUG ?? ''];
if (!bug) throw new Error(`There is no bug ${process.env.PLANTED_BUG} in test/chaos/planted.`);

bug.changePg?.();
if (bug.statements) rewriteStatements(bug.statements);
if (bug.exports) exchangeExports();

type Callback = (error: Error | null, result?: pg.QueryResult) => void;

function rewriteStatements(rewrites: readonly Rewrite[]): void {
  const { query } = pg.Client.prototype;
  const send = query as (this: pg.Client, ...given: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, config: unknown, ...rest: unknown[]) {
    const text = typeof config === 'string' ? config : (config as pg.QueryConfig | undefined)?.text;
    const matching = rewrites.filter(({ find }) => typeof text === 'string' && find.test(text));
    if (matching.length === 0) return send.call(this, config, ...rest);
    const changed = matching.reduce(
      (before, { find, replace }) => before.replace(find, replace as string),
      text as string,
    );
    // Without a name: a prepared statement must keep its text.
    const { values } = config as pg.QueryConfig;
    const statement = values ? { text: changed, values } : changed;
    const tell = ({ rows }: pg.QueryResult) => {
      for (const { onRows } of matching) onRows?.(rows);
    };
    const callback = rest.at(-1);
    if (typeof callback !== 'function')
      return (send.call(this, statement, ...rest) as Promise<pg.QueryResult>).then((result) => {
        tell(result);
        return result;
      });
    return send.call(this, statement, ...rest.slice(0, -1), ((error, result) => {
      if (result) tell(result);
      (callback as Callback)(error, result);
    }) satisfies Callback);
  } as typeof query;
}

/** Exchanges an export. Called by the modules that stand in for those of the product. */
export function exchange(file: string, name: string, original: unknown): unknown {
  const found = bug?.exports?.find((each) => each.file === file && each.name === name);
  return found ? found.exchange(original) : original;
}

function exchangeExports(): void {
  const marked = '?original';
  registerHooks({
    load(url, context, nextLoad) {
      const file = path.relative(root, new URL(url).pathname);
      const exchanged = bug?.exports?.filter((each) => each.file === file) ?? [];
      if (exchanged.length === 0 || url.endsWith(marked)) return nextLoad(url, context);
      const original = JSON.stringify(`${url}${marked}`);
      const source = [
        `import * as original from ${original};`,
        `import { exchange } from ${JSON.stringify(pathToFileURL(import.meta.filename).href)};`,
        `export * from ${original};`,
        ...exchanged.map(
          ({ name }) =>
            `export const ${name} = exchange(${JSON.stringify(file)}, '${name}', original.${name});`,
        ),
      ];
      return { format: 'module', shortCircuit: true, source: source.join('\n') };
    },
  });
}
