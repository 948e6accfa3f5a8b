import { type Statement, sql } from '#lib/db/sql.ts';
import { requestExtension } from '#lib/events/outbox.ts';

/** The outbox rows to write: one for each row of `from`, whose alias is `s` in the other members. */
interface EventRows {
  from: Statement;
  topic: string;
  key: Statement;
  type: Statement;
  /** Default: the key. */
  subject?: Statement;
  time: Statement;
  /** Members that are null are left out. */
  data: Statement;
  /** Default: the extensions of the current request. */
  extension?: Statement;
}

/**
 * An INSERT into the outbox. Events never carry an answer, contact data or the name of a person.
 * @param source BASE_URL.
 */
export function insertEvents(
  { from, topic, key, type, subject = key, time, data, extension }: EventRows,
  source: string,
): Statement {
  // gen_random_uuid() must be in the list of columns; in a joined row all events would get the same id.
  return sql`
      INSERT INTO outbox (event_id, topic, key, event)
      SELECT e.id, ${topic}::text, e.key,
             jsonb_build_object('id', e.id, 'type', e.type, 'source', ${source}::text, 'subject', e.subject,
               'time', to_json(e.time), 'data', jsonb_strip_nulls(e.data)) || e.extension
        FROM (SELECT gen_random_uuid() AS id, ${key} AS key, ${type} AS type, ${subject} AS subject,
                     ${time} AS time, ${data} AS data,
                      ${extension ?? sql`${requestExtension()}::jsonb`} AS extension
                FROM ${from} AS s) AS e`;
}

/**
 * Common table expressions that record a change of state of the rows in `t`: `history` and `event`.
 * @param name the event's name, such as `committed`.
 */
export function recordStateChange(name: string, source: string): Statement {
  return recordSteps(sql`t`, sql`${typeOf(name)}::text`, source);
}

/** As {@link recordStateChange}, for transactions in `t` that one statement creates and commits. */
export function recordCreationAndCommit(source: string): Statement {
  return sql`steps AS (
      SELECT t.id, 1 AS version, 'CREATED' AS state, t.created_at AS changed_at,
             ${typeOf('created')}::text AS type FROM t
      UNION ALL
      SELECT t.id, t.version, t.state, t.changed_at, ${typeOf('committed')}::text FROM t
    ), ${recordSteps(sql`steps`, sql`s.type`, source)}`;
}

const typeOf = (name: string) => `io.accord.consent.${name}.v1`;

function recordSteps(rows: Statement, type: Statement, source: string): Statement {
  return sql`history AS (
      INSERT INTO transaction_history (transaction, version, state, at)
      SELECT s.id, s.version, s.state, s.changed_at FROM ${rows} AS s
    ), ${consentEvents(rows, type, source)}`;
}

/**
 * A common table expression `event`: an event for each transaction in `from`.
 * @param type SQL; `s` is the row.
 */
export function consentEvents(from: Statement, type: Statement, source: string): Statement {
  const data = sql`jsonb_build_object('transaction', s.id, 'state', s.state, 'version', s.version)`;
  const rows = { from, topic: 'accord.consents', key: sql`s.id`, type, time: sql`s.changed_at`, data };
  return sql`event AS (${insertEvents(rows, source)}
    )`;
}

/**
 * Inserts `consent.withdrawn` events for the transaction in `t`: one for every 50 consents in force (in
 * `ended`) that the records in `stored` withdraw. Recipients never saw a consent that was not in force.
 */
export function withdrawnEvents(committedAt: Date, source: string): Statement {
  const from = sql`(
    SELECT t.id, t.state, t.version,
           jsonb_agg(jsonb_build_object('record', w.withdraws, 'element', w.key) ORDER BY w.key) AS withdraws
      FROM t CROSS JOIN (
        SELECT g.key, g.withdraws, (row_number() OVER (ORDER BY g.key) - 1) / 50 AS piece
          FROM stored AS g JOIN ended AS e ON e.by = g.id AND e.id = g.withdraws) AS w
     GROUP BY t.id, t.state, t.version, w.piece)`;
  return insertEvents(
    {
      from,
      topic: 'accord.consents',
      key: sql`s.id`,
      type: sql`${typeOf('withdrawn')}::text`,
      time: sql`${committedAt}::timestamptz`,
      data: sql`jsonb_build_object(
        'transaction', s.id, 'state', s.state, 'version', s.version, 'withdraws', s.withdraws)`,
    },
    source,
  );
}

/**
 * Inserts an event for each answer in `from` that a new one supersedes.
 * @param from columns `id` and `transaction` of the earlier answer, `by`, the new one, and `at`, when the new
 * one takes effect.
 */
export function supersededEvents(from: Statement, source: string): Statement {
  return insertEvents(
    {
      from,
      topic: 'accord.consents',
      key: sql`s.transaction`,
      type: sql`'io.accord.record.superseded.v1'::text`,
      subject: sql`s.id`,
      time: sql`s.at`,
      data: sql`jsonb_build_object('record', s.id, 'transaction', s.transaction, 'by', s.by)`,
    },
    source,
  );
}

/** SQL: rows (id, records), with up to 50 records each. @param records a query for (id, record). */
export function inPieces(records: Statement): Statement {
  return sql`(
    SELECT p.id, jsonb_agg(p.record ORDER BY p.record) AS records
      FROM (SELECT o.id, o.record,
                   (row_number() OVER (PARTITION BY o.id ORDER BY o.record) - 1) / 50 AS piece
              FROM (${records}) AS o) AS p
     GROUP BY p.id, p.piece)`;
}
