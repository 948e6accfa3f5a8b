import pg from 'pg';
import type { Bug } from './bug.ts';

const lost = 'reply lost after COMMIT (connection cut)';
const ownersReplyLost = 'reply lost after the owner’s COMMIT';

/** SQL that is true four times in five. */
const mostly = 'WHERE random() < 0.8';

let cursor: string | number = 0;

/** One or more for each invariant of docs/reliability.md. */
export const bugs: Readonly<Record<string, Bug>> = {
  'event-left-out': {
    what: 'a commit can leave out its event',
    faults: [],
    caught: /^I5: \S+ became COMMITTED \(version 2\) without an event/m,
    statements: [{ find: /FROM (?:t|\$1) AS s\) AS e/, replace: `FROM t AS s ${mostly}) AS e` }],
  },
  'history-left-out': {
    what: 'a change of state can leave out its history',
    faults: [],
    caught: /^I4: \S+ is at version 2, and its history has 1$/m,
    statements: [
      {
        find: /(SELECT s\.id, s\.version, s\.state, s\.changed_at FROM (?:t|\$1) AS s)/,
        replace: `$1 ${mostly} OR s.version = 1`,
      },
    ],
  },
  'records-left-out': {
    what: 'a commit can leave out its records',
    faults: [],
    caught: /^I1: \S+ was answered .* and holds /m,
    statements: [{ find: /( AS e \(count\))(\s*RETURNING id, key)/, replace: `$1 ${mostly}$2` }],
  },
  'cursor-instead-of-lease': {
    what: 'the relay remembers its position instead of what it has sent',
    // Rows that could not be marked as sent are never looked at again.
    faults: [lost, lost],
    caught: /^I5: \d+ events and messages were never sent/m,
    statements: [
      {
        find: /\(c\.lease_until IS NULL OR c\.lease_until < now\(\)\)/,
        replace: () => `c.id > ${cursor}`,
        onRows(rows) {
          for (const { id } of rows) if (BigInt(id) > BigInt(cursor)) cursor = id;
        },
      },
    ],
  },
  'acknowledged-before-commit': {
    what: 'a submit is acknowledged before it is committed',
    faults: Array(8).fill('connections to PostgreSQL cut'),
    between: [20, 60],
    // What was not committed stays CREATED, unless somebody cancels it.
    caught:
      /^I1: (the answers of \S+ were acknowledged and it is (CREATED|CANCELLED)|a child of \S+ was answered 409)/m,
    changePg: () => answerBeforeResult(/SET state = 'COMMITTED', version = version \+ 1, answers_digest/),
  },
  'any-code-accepted': {
    what: 'a wrong code confirms answers',
    faults: [],
    caught: /^I1: a guess of \S+ was answered 200/m,
    exports: [
      {
        file: 'services/transactions/answer/code.ts',
        name: 'createCodes',
        exchange: (createCodes: (secrets: unknown) => object) => (secrets: unknown) => ({
          ...createCodes(secrets),
          matches: () => true,
        }),
      },
    ],
  },
  'notification-left-out': {
    what: 'a confirmation commits without its notification',
    faults: [],
    caught: /^I7: \S+ is COMMITTED and has 0 notifications instead of 1/m,
    exports: [
      {
        file: 'services/transactions/messages/queue.ts',
        name: 'queueNotification',
        exchange: () => async () => {},
      },
    ],
  },
  'mail-lost': {
    what: 'a mail counts as sent although its server is away',
    faults: ['mail server away'],
    caught: /^I7: the (?:code|notification) \S+ of \S+ is SENT and never arrived/m,
    exports: [
      {
        file: 'lib/mail/mail-transport.ts',
        name: 'createMailTransport',
        exchange: (createMailTransport: (server: object) => object) => (server: object) =>
          withMember(createMailTransport(server), 'send', (send) => async (...given: unknown[]) => {
            await send(...given);
            return { result: 'sent' };
          }),
      },
    ],
  },
  'mail-given-up': {
    what: 'a mail is given up when its server is away',
    faults: ['mail server away'],
    caught: /^I7: the notification \S+ of \S+ is FAILED/m,
    exports: [
      {
        file: 'lib/mail/mail-transport.ts',
        name: 'createMailTransport',
        exchange: (createMailTransport: (server: object) => object) => (server: object) =>
          withMember(createMailTransport(server), 'send', (send) => async (...given: unknown[]) => {
            const outcome = (await send(...given)) as { result: string };
            return outcome.result === 'failed' ? { ...outcome, result: 'refused' } : outcome;
          }),
      },
    ],
  },
  'claim-missing': {
    what: 'equal contexts do not find the same transaction',
    faults: [],
    caught: /^I2: the transaction of \S+ is there twice/m,
    statements: [
      {
        find: /ON CONFLICT \(digest\) DO NOTHING RETURNING transaction/,
        replace:
          'ON CONFLICT (digest) DO UPDATE SET transaction = EXCLUDED.transaction RETURNING transaction',
      },
    ],
  },
  'commit-without-condition': {
    what: 'a submit commits a transaction whatever its state',
    faults: [],
    // Another person must cancel in the same moment.
    between: [800, 1_000],
    caught: /^I4: \S+ went CREATED → CANCELLED → COMMITTED/m,
    statements: [
      {
        find: /AND x\.version = (\$\d+) AND x\.state = 'CREATED'\s+AND x\.expires_at > accord_now\(\)/,
        replace: 'AND $1::int > 0',
      },
    ],
  },
  'same-answers-refused': {
    what: 'submitting the same answers again is not the same success',
    faults: [],
    caught: /^I1: \S+ holds answers that were refused/m,
    statements: [{ find: /t\.answers_digest AS "answersDigest"/, replace: 'NULL AS "answersDigest"' }],
  },
  'children-without-lock': {
    what: 'two parallel requests create two children',
    faults: [],
    caught: /^I2: the child of \S+ is there twice/m,
    statements: [
      { find: /WHERE t\.id = \$1 FOR NO KEY UPDATE(?! OF)/, replace: 'WHERE t.id = $1' },
      { find: /WHERE s\.name = \$1 FOR NO KEY UPDATE/, replace: 'WHERE s.name = $1' },
      {
        find: /CREATE UNIQUE INDEX transactions_open_child/,
        replace: 'CREATE INDEX transactions_open_child',
      },
    ],
  },
  'client-kept-after-failure': {
    what: 'a failed transaction never releases its connection',
    faults: [lost, lost, lost, lost, lost],
    caught: /^I9: after \d blows: In vain for 10 s/m,
    changePg: keepFailedClients,
  },
  'connection-error-unheard': {
    what: 'errors of idle connections have no listener',
    faults: ['connections to PostgreSQL cut'],
    caught: /^I9: accord \d*\s?(said|ended by itself)/m,
    changePg: ignorePoolErrors,
  },
  'clock-of-the-process': {
    what: 'deadlines are judged by the clock of the process instead of that of the database',
    faults: ['clock of accord +10 min'],
    caught: /^I1: a (submit|form|create) of \S+ was answered/m,
    statements: [
      { find: /accord_now\(\) AS now/g, replace: () => `'${new Date().toISOString()}'::timestamptz AS now` },
    ],
  },
  'failed-send-forgotten': {
    what: 'the relay deletes events that Kafka has not acknowledged',
    world: 'distributed',
    faults: ['Kafka down'],
    caught: /^I5: \S+ became \S+ \(version \d\), and no topic carried its event/m,
    exports: [
      {
        file: 'lib/events/kafka/kafka-bus.ts',
        name: 'createKafkaBus',
        exchange: (createKafkaBus: (options: object) => Promise<object>) => async (options: object) =>
          withMember(await createKafkaBus(options), 'publish', (publish) => async (rows: unknown) => {
            publish(rows).catch(() => {});
            return [];
          }),
      },
    ],
  },
  'acknowledged-before-applied': {
    what: 'a consumer goes on although it could not apply an event',
    world: 'distributed',
    faults: Array(8).fill('connections to PostgreSQL cut'),
    caught: /^I5: \S+ became \S+ \(version \d\), and the webhook never got its event/m,
    exports: [
      {
        file: 'lib/events/apply-event.ts',
        name: 'createEventApplier',
        exchange: (createEventApplier: (options: object) => object) => (options: object) =>
          withMember(createEventApplier(options), 'apply', (apply) => async (...given: unknown[]) => {
            await apply(...given);
            return true;
          }),
      },
    ],
  },
  'effect-without-inbox': {
    what: 'a consumer does not look whether it has applied an event before',
    world: 'distributed',
    faults: ['events carried twice and in another order'],
    caught: /^I5: the webhook got event \S+ in two deliveries/m,
    statements: [
      { find: /CREATE UNIQUE INDEX deliveries_once/, replace: 'CREATE INDEX deliveries_once' },
      { find: /ON CONFLICT \(webhook, event_id\) WHERE NOT redelivery DO NOTHING/, replace: '' },
      { find: /FROM noted, wanted AS n/, replace: 'FROM wanted AS n' },
    ],
  },
  'poison-comes-again': {
    what: 'an event that cannot be read is retried for ever',
    world: 'distributed',
    faults: ['poison among the events'],
    caught: /^I5: the poison \S+ is not in dead_letters/m,
    exports: [{ file: 'lib/events/dead-letters.ts', name: 'poisonReason', exchange: () => () => undefined }],
  },
  'sid-not-remembered': {
    what: 'the owner stores a part without remembering its sid',
    world: 'peers',
    faults: Array(4).fill(ownersReplyLost),
    caught: /^I2: the part of \S+ is there twice at the owner/m,
    statements: [
      {
        find: /(INSERT INTO received_parts \(peer, sid,[^)]*\)\s+SELECT\s+\$\d+), (\$\d+),/,
        replace: '$1, left($2::text, 0) || left(md5(random()::text), 22),',
      },
    ],
  },
  'failed-delivery-ended': {
    what: 'a delivery ends before its owner has answered',
    world: 'peers',
    faults: ['owner unavailable'],
    caught: /^I1: the part \S+ of \S+ stays (SENDING|HELD)/m,
    exports: [
      {
        file: 'lib/deliveries/delivery-engine.ts',
        name: 'createDeliveryEngine',
        exchange:
          (createDeliveryEngine: (options: object) => unknown) =>
          ({ kind, ...options }: { kind: object }) =>
            createDeliveryEngine({
              ...options,
              kind: withMember(kind, 'attempt', (attempt) => async (row: unknown) => {
                const result = (await attempt(row)) as { kind: string };
                return result.kind === 'retry' ? { ...result, kind: 'done' } : result;
              }),
            }),
      },
    ],
  },
  'notification-of-parts-left-out': {
    what: 'a leader commits answers to its peers without its notification',
    world: 'peers',
    faults: [],
    caught: /^I7: \S+ is COMMITTED and has 0 notifications instead of 1/m,
    exports: [
      {
        file: 'services/transactions/messages/queue.ts',
        name: 'queueNotification',
        exchange: () => async () => {},
      },
    ],
  },
  'receipt-of-another-part': {
    what: 'an acknowledgement of another part counts',
    world: 'peers',
    faults: Array(3).fill('answers mixed up'),
    caught: /^I1: the part \S+ is ACCEPTED and at its owner held/m,
    exports: [
      {
        file: 'services/peers/domain/acknowledgement.ts',
        name: 'readAcknowledgement',
        exchange:
          (readAcknowledgement: (jws: string, about: object, from: object) => unknown) =>
          (jws: string, about: object, from: object) => {
            const { sid } = JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString());
            return readAcknowledgement(jws, { ...about, sid }, from);
          },
      },
    ],
  },
  'sealed-kept-after-rollback': {
    what: 'sealed answers that were taken back are kept',
    world: 'peers',
    faults: [],
    caught: /^I3: the part \S+ is DROPPED and its sealed answers are kept/m,
    statements: [
      {
        find: /state = 'DROPPED', version = f\.version \+ 1, sealed = NULL/,
        replace: "state = 'DROPPED', version = f.version + 1",
      },
      { find: /,\s+CHECK \(\(state IN \('WAITING', 'SENDING'\)\) = \(sealed IS NOT NULL\)\)/, replace: '' },
    ],
  },
  'held-in-force': {
    what: 'records are in force while they are held',
    world: 'peers',
    faults: [ownersReplyLost],
    caught: /^I8: \S+ is CANCELLED and (holds|its owner has)/m,
    statements: [
      { find: /g\.positions,\s+(?:'PENDING'|\$1),/, replace: "g.positions, 'COMMITTED'," },
      // When it was committed, what it withdraws, and from where and when it is in force.
      ...Array.from({ length: 4 }, () => ({ find: /(?:'PENDING'|\$1) = 'COMMITTED'/, replace: 'true' })),
    ],
  },
  'status-for-a-verdict': {
    what: 'a refusal counts that has no signature',
    world: 'peers',
    faults: ['owner refusing everything'],
    caught: /^I1: the part \S+ of \S+ is REFUSED \(invalid\) and nobody refused it/m,
    exports: [
      {
        file: 'services/peers/client/peer-client.ts',
        name: 'createPeerClient',
        exchange: (createPeerClient: (options: object) => object) => (options: object) =>
          withMember(createPeerClient(options), 'send', (send) => async (request: unknown) => {
            const reply = (await send(request)) as { status: number };
            return reply.status === 403 ? { status: 200, content: { receipt: unsigned } } : reply;
          }),
      },
      {
        file: 'services/peers/domain/acknowledgement.ts',
        name: 'readAcknowledgement',
        exchange:
          (readAcknowledgement: (...given: unknown[]) => unknown) =>
          (jws: unknown, ...rest: unknown[]) =>
            jws === unsigned
              ? { content: { verdict: 'refused', reason: 'invalid' } }
              : readAcknowledgement(jws, ...rest),
      },
    ],
  },
  'answers-not-sealed': {
    // test/security/peers-canary.test.ts catches it: after the chaos runs nothing sealed is left to be read.
    what: 'answers for their owner are not encrypted',
    world: 'peers',
    faults: [],
    exports: [
      {
        file: 'lib/jose/jwe.ts',
        name: 'encryptCompact',
        exchange:
          () =>
          (plaintext: Uint8Array, { more }: { more: object }) => {
            const header = Buffer.from(JSON.stringify({ alg: 'ECDH-ES', enc: 'A256GCM', ...more }));
            // Without its padding: PostgreSQL would compress the spaces, and the text with them.
            const content = Buffer.from(Buffer.from(plaintext).toString().trim());
            return [header, '', Buffer.alloc(12), content, Buffer.alloc(16)]
              .map((part) => (typeof part === 'string' ? part : part.toString('base64url')))
              .join('.');
          },
      },
      {
        file: 'lib/jose/jwe.ts',
        name: 'decryptCompact',
        exchange: () => (jwe: { ciphertext: Buffer }) => jwe.ciphertext,
      },
    ],
  },
};

const unsigned = 'not signed';

type Method = (...given: unknown[]) => Promise<unknown>;

/** An object like this one, with another method. */
function withMember(original: object, name: string, exchange: (method: Method) => unknown): object {
  const method = (original as Record<string, Method>)[name]?.bind(original) as Method;
  const exchanged = exchange(method);
  return new Proxy(original, {
    get: (target, property) => (property === name ? exchanged : Reflect.get(target, property, target)),
  });
}

/** Statements like this one seem to have succeeded before PostgreSQL has answered. */
function answerBeforeResult(statement: RegExp): void {
  const { query } = pg.Client.prototype;
  const send = query as (this: pg.Client, ...given: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const callback = given.at(-1);
    const { text = '' } = given[0] as pg.QueryConfig;
    if (typeof callback !== 'function' || !statement.test(text)) return send.call(this, ...given);
    send.call(this, ...given.slice(0, -1), () => {});
    return setImmediate(() => callback(null, { rows: [{}], rowCount: 1 }));
  } as typeof query;
}

/** Clients are not released after a failure. */
function keepFailedClients(): void {
  const { connect } = pg.Pool.prototype;
  const take = connect as (this: pg.Pool, ...given: unknown[]) => unknown;
  pg.Pool.prototype.connect = function (this: pg.Pool, ...given: unknown[]) {
    const taken = take.call(this, ...given);
    if (given.length > 0) return taken;
    return (taken as Promise<pg.PoolClient>).then((client) => {
      const { release } = client;
      client.release = (error) => (error ? undefined : release.call(client));
      return client;
    });
  } as typeof connect;
}

/** Pools have no listener for errors. */
function ignorePoolErrors(): void {
  const { on } = pg.Pool.prototype;
  const listen = on as (this: pg.Pool, event: string, listener: () => void) => pg.Pool;
  pg.Pool.prototype.on = function (this: pg.Pool, event: string, listener: () => void) {
    return event === 'error' ? this : listen.call(this, event, listener);
  } as typeof on;
}
