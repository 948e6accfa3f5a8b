import pg from 'pg';
import { growing } from './fill-tables.ts';

/** How PostgreSQL answers one statement of the request path. */
export interface ReadPlan {
  schema: string;
  text: string;
  /** Indexes used. */
  indexes: string[];
  /** Tables of {@link growing} that are read whole. */
  readWhole: string[];
}

interface Captured {
  schema: string;
  text: string;
  values: unknown[];
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/**
 * Runs `walk` against an instance in this process and asks PostgreSQL for the plan of every statement that
 * its services sent meanwhile: the one for any values, which is what they take (lib/db/pool.ts).
 * @param url of the schemas' owner.
 */
export async function readPlans(url: string, walk: () => Promise<void>): Promise<ReadPlan[]> {
  const captured = await captureStatements(walk);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const plans: ReadPlan[] = [];
    for (const { schema, text } of captured) {
      await client.query(`SET search_path = ${pg.escapeIdentifier(schema)}`);
      const { rows } = await client.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
      const nodes = flatten(rows[0]['QUERY PLAN'][0].Plan as PlanNode);
      plans.push({
        schema,
        text,
        indexes: [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))],
        readWhole: nodes.filter(isReadWhole).map((node) => node['Relation Name'] ?? ''),
      });
    }
    return plans;
  } finally {
    await client.end();
  }
}

/**
 * Runs `walk` as {@link readPlans} does, and carries out every SELECT that it sent once more.
 * @param url of the schemas' owner.
 * @returns how many rows of `table` the statements that read it have looked at, in all and at most in a
 * single statement, and how many they have sorted.
 */
export async function countRows(
  url: string,
  table: string,
  walk: () => Promise<void>,
): Promise<{ statements: number; read: number; most: number; sorted: number }> {
  const captured = await captureStatements(walk);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const counted = { statements: 0, read: 0, most: 0, sorted: 0 };
  try {
    for (const { schema, text, values } of captured) {
      if (!text.startsWith('SELECT') || !new RegExp(`\\b${table}\\b`).test(text)) continue;
      await client.query(`SET search_path = ${pg.escapeIdentifier(schema)}`);
      const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      const nodes = flatten(rows[0]['QUERY PLAN'][0].Plan as PlanNode);
      const sum = (of: PlanNode[], removed: boolean) =>
        of.reduce((total, node) => {
          const each = (node['Actual Rows'] ?? 0) + (removed ? (node['Rows Removed by Filter'] ?? 0) : 0);
          return total + each * (node['Actual Loops'] ?? 0);
        }, 0);
      counted.statements += 1;
      const read = sum(
        nodes.filter((node) => node['Relation Name'] === table),
        true,
      );
      counted.read += read;
      counted.most = Math.max(counted.most, read);
      counted.sorted += sum(
        nodes.filter((node) => node['Node Type'].endsWith('Sort')),
        false,
      );
    }
    return counted;
  } finally {
    await client.end();
  }
}

function isReadWhole(node: PlanNode): boolean {
  return node['Node Type'] === 'Seq Scan' && growing.includes(node['Relation Name'] ?? '');
}

function flatten(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

/** Each text once. Pools send through this method of pg's clients. */
async function captureStatements(walk: () => Promise<void>): Promise<Captured[]> {
  const captured = new Map<string, Captured>();
  const { prototype } = pg.Client;
  const original = prototype.query;
  const watching = function query(this: pg.Client, ...given: unknown[]) {
    const [config] = given as [{ text?: string; values?: unknown[] }];
    const schema = schemaOf(this);
    if (
      schema &&
      typeof config?.text === 'string' &&
      /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(config.text)
    )
      captured.set(`${schema} ${config.text}`, {
        schema,
        text: config.text.trim(),
        values: config.values ?? [],
      });
    return Reflect.apply(original, this, given);
  };
  Object.assign(prototype, { query: watching });
  try {
    await walk();
  } finally {
    Object.assign(prototype, { query: original });
  }
  return [...captured.values()];
}

/** A service's pool says so in its name (lib/db/pool.ts). */
function schemaOf(client: pg.Client): string | undefined {
  const { connectionParameters } = client as unknown as {
    connectionParameters: { application_name?: string };
  };
  return /^accord-(\w+)$/.exec(connectionParameters.application_name ?? '')?.[1];
}
