import pg from 'pg';

/** What a test does to the database behind an instance's back. */
export interface DatabaseAccess {
  /** Keeps a copy of every event that is written from now on. */
  copyEvents(): Promise<void>;
  /** All of them. */
  events(): Promise<string>;
  /** Whatever is written fails from now on, and the failure quotes all of it. */
  complainOfEverything(): Promise<void>;
  /** Nothing is found where it was. */
  hideTables(): Promise<void>;
  /**
   * Nobody gets in any more; those who are in are thrown out. @param adminUrl another database of the server.
   */
  shut(adminUrl: string): Promise<void>;
  /** Every row of every table, but those where a table's secrets belong. */
  everything(): Promise<string>;
}

const services = ['auth', 'forms', 'transactions'];

const copy = services
  .map(
    (schema) => `
  CREATE TABLE kept.${schema} (event jsonb);
  CREATE FUNCTION kept.${schema}() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO kept.${schema} VALUES (NEW.event); RETURN NEW; END $$;
  CREATE TRIGGER keep AFTER INSERT ON ${schema}.outbox FOR EACH ROW EXECUTE FUNCTION kept.${schema}();`,
  )
  .join('');

const complaint = `
  CREATE FUNCTION public.complain() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no: %', NEW USING DETAIL = NEW::text, HINT = NEW::text, CONSTRAINT = left(NEW::text, 60); END $$;`;
const written = [
  'auth.api_keys',
  'forms.models',
  'transactions.transactions',
  'transactions.records',
  'transactions.subjects',
];
const hidden = [
  'auth.sign_in_tries',
  'forms.models',
  'transactions.transactions',
  'transactions.subjects',
  'transactions.records',
];

export async function openDatabase(url: string): Promise<DatabaseAccess & { end(): Promise<void> }> {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  pool.on('error', () => {}); // It is thrown out with all others.
  const run = async (text: string) => (await pool.query(text)).rows as Record<string, unknown>[];
  return {
    async copyEvents() {
      await run(`CREATE SCHEMA kept; ${copy}`);
    },
    async events() {
      const rows = await run(
        services.map((schema) => `SELECT event::text AS event FROM kept.${schema}`).join(' UNION ALL '),
      );
      return rows.map(({ event }) => event).join('\n');
    },
    async complainOfEverything() {
      const triggers = written.map(
        (table) =>
          `CREATE TRIGGER complain BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION public.complain();`,
      );
      await run(`${complaint} ${triggers.join(' ')}`);
    },
    async hideTables() {
      await run(
        hidden.map((table) => `ALTER TABLE ${table} RENAME TO hidden_${table.split('.')[1]};`).join(' '),
      );
    },
    async shut(adminUrl) {
      const name = new URL(url).pathname.slice(1);
      const admin = new pg.Client({ connectionString: adminUrl });
      await admin.connect();
      await admin.query(`ALTER DATABASE ${name} CONNECTION LIMIT 0`);
      await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
      await admin.end();
    },
    async everything() {
      const tables = await run(
        `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = ANY('{${[...services, 'webhooks']}}')`,
      );
      const texts: string[] = [];
      // A receipt holds the link by which the subject comes back (docs/interface.md, "Receipts").
      for (const { name } of tables.filter((table) => table.name !== 'transactions.receipts'))
        texts.push(...(await run(`SELECT t::text AS row FROM ${name} AS t`)).map(({ row }) => String(row)));
      return texts.join('\n');
    },
    end: () => pool.end(),
  };
}
