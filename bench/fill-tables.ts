import pg from 'pg';

/** Tables that grow with every flow: no statement on the way of a request may read one of them whole. */
export const growing = [
  ...['transactions', 'transaction_history', 'context_claims', 'records', 'receipts', 'subjects'],
  ...['inbox', 'outbox_sent', 'contacts'],
];

/** Records of one transaction of the sample's layout. */
const perTransaction = 3;
/** On the average a subject has answered three times; the first of them much more often than the last. */
const recordsPerSubject = 10;

/**
 * How many subjects {@link fillTables} gives that many records to; they are called `filled-0`, `filled-1`, …
 */
export const filledSubjects = (records: number) => Math.ceil(records / recordsPerSubject);

/**
 * Fills the tables of `transactions` as years of use would, by copies of the transaction of the subject
 * `sample`; the same at every run.
 * @param url of the owner; a superuser is quicker.
 * @param alone whether nothing else uses the database meanwhile: a superuser then builds the indexes
 * afterwards, which makes ten million records a matter of minutes.
 */
export async function fillTables(url: string, records: number, alone = false): Promise<void> {
  await fill(url, records, async (client, superuser) => {
    // References are not checked again for rows that are known to have them.
    if (superuser) await client.query('SET session_replication_role = replica');
    const write = async () => {
      for (const statement of [...copies, copyRecords, takePositions]) await client.query(statement);
    };
    if (superuser && alone) await withoutIndexes(client, growing, write);
    else await write();
    await client.query('VACUUM ANALYZE');
    if (superuser) await client.query('CHECKPOINT');
  });
}

/**
 * Fills `records` alone, without the transactions they belong to: ten million in a few minutes, because their
 * indexes are built afterwards. Nothing else may use the database meanwhile.
 * @param url of a superuser.
 */
export async function fillRecords(url: string, records: number): Promise<void> {
  await fill(url, records, async (client) => {
    await client.query('SET session_replication_role = replica');
    await withoutIndexes(client, ['records'], async () => {
      await client.query(copyRecords);
      await client.query(takePositions);
    });
    await client.query('VACUUM ANALYZE records');
    await client.query('CHECKPOINT');
  });
}

/** Writes without the indexes of tables, and builds them afterwards. */
async function withoutIndexes(
  client: pg.Client,
  tables: readonly string[],
  write: () => Promise<void>,
): Promise<void> {
  // REINDEX makes indexes valid again, as after a failed CREATE INDEX CONCURRENTLY.
  await client.query(
    'UPDATE pg_index SET indisready = false, indisvalid = false WHERE indrelid = ANY ($1::text[]::regclass[])',
    [tables],
  );
  await write();
  await client.query("SET maintenance_work_mem = '1GB'");
  for (const table of tables) await client.query(`REINDEX TABLE ${table}`);
}

async function fill(
  url: string,
  records: number,
  copy: (client: pg.Client, superuser: boolean) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query("SELECT current_setting('is_superuser') AS superuser");
    await client.query(
      "SET search_path = transactions; SET synchronous_commit = off; SET work_mem = '128MB'",
    );
    await client.query('SELECT setseed(0.4)');
    await client.query(choose, [Math.ceil(records / perTransaction), filledSubjects(records)]);
    await copy(client, rows[0].superuser === 'on');
  } finally {
    await client.end();
  }
}

/**
 * Of twenty transactions with answers there is one more that waits for them. Time is spread over two years,
 * and rows are written in its order; subjects are spread so that a tenth of them have about a third of all.
 */
const choose = `
  CREATE TEMP TABLE filled AS
  SELECT translate(substr(md5(n::text), 1, 22), '0', 'g') AS id, 'filled-' || floor($2::int * random() ^ 2)::int AS subject,
         now() - interval '1 day' - random() * interval '730 days' AS at, n > $1::int AS open
    FROM generate_series(1, $1::int + $1::int / 20) AS n ORDER BY at`;

/** Receipts are cut: they are read one at a time by their key, and would take most of the time to write. */
const copies = [
  `INSERT INTO transactions (id, subject, state, version, context, layout, author, created_at, changed_at, expires_at, notice_at)
   SELECT f.id, f.subject, CASE WHEN f.open THEN 'CREATED' ELSE s.state END, CASE WHEN f.open THEN 1 ELSE s.version END,
          s.context || jsonb_build_object('subject', f.subject), s.layout, s.author, f.at, f.at,
          CASE WHEN f.open THEN now() + interval '30 days' ELSE f.at + interval '1 hour' END,
          CASE WHEN f.open THEN NULL ELSE f.at + interval '3 years' - interval '30 days' END
     FROM filled AS f CROSS JOIN (SELECT t.* FROM transactions AS t WHERE t.subject = 'sample') AS s`,
  `INSERT INTO transaction_history (transaction, version, state, at)
   SELECT f.id, v.version, v.state, f.at FROM filled AS f CROSS JOIN (VALUES (1, 'CREATED'), (2, 'COMMITTED')) AS v (version, state)
    WHERE v.version = 1 OR NOT f.open`,
  `INSERT INTO context_claims (digest, transaction) SELECT sha256(f.id::bytea), f.id FROM filled AS f`,
  `INSERT INTO receipts (transaction, body, jws)
   SELECT f.id, left(s.body, 300), left(s.jws, 300)
     FROM filled AS f CROSS JOIN (SELECT r.* FROM receipts AS r JOIN transactions AS t ON t.id = r.transaction AND t.subject = 'sample') AS s
    WHERE NOT f.open`,
  `INSERT INTO subjects (id, name, created_at, modified_at)
   SELECT gen_random_uuid(), f.subject, min(f.at), min(f.at) FROM filled AS f GROUP BY f.subject ORDER BY min(f.at)`,
  // Six of ten people have an e-mail address, which the search finds by its digest.
  `INSERT INTO contacts (digest, subject)
   SELECT sha256(k.key || convert_to(s.name || '@example.org', 'UTF8')), s.name
     FROM subjects AS s CROSS JOIN contact_key AS k WHERE s.name LIKE 'filled-%' AND right(s.name, 1) IN ('0', '1', '2', '3', '4', '5')`,
];

/** Later statements take later positions. */
const takePositions = `SELECT setval('positions', (SELECT coalesce(max(r.until_position), 0) FROM records AS r) + 1000)`;

const copyRecords = `
  INSERT INTO records (id, transaction, subject, key, type, serial, info_key, info_serial, value, positions, state, origin, author,
                        created_at, committed_at, expires_at, from_position, from_at, until_position, until_at)
   SELECT gen_random_uuid(), f.id, f.subject, s.key, s.type, s.serial, s.info_key, s.info_serial, s.value, s.positions, s.state, s.origin,
          s.author, f.at, f.at, f.at + interval '3 years', row_number() OVER asked, f.at,
          CASE WHEN lead(f.at) OVER asked IS NOT NULL THEN row_number() OVER asked + 1 END, lead(f.at) OVER asked
     FROM filled AS f CROSS JOIN (SELECT r.* FROM records AS r WHERE r.subject = 'sample') AS s
    WHERE NOT f.open
   WINDOW asked AS (PARTITION BY f.subject, s.key ORDER BY f.at, f.id)
    ORDER BY f.at`;
