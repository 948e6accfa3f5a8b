/** The boundaries of docs/architecture.md, checked by `npm run check`. */
const driver = (name, module, folder) => ({
  name,
  severity: 'error',
  comment: `Only ${folder} knows ${module}.`,
  from: { path: '^(lib|services)/', pathNot: `^${folder}/` },
  to: { path: `^node_modules/${module}/`, dependencyTypesNot: ['type-only'] },
});

/**
 * The rooms of services/transactions: a room imports only rooms before it. Files outside the rooms (compose.ts,
 * jobs.ts, operations.ts) import all of them, and no room imports these, except for the type of its settings.
 */
const rooms = [
  'person', // subjects, their lock and the order of their statements
  'transaction', // context, states, access, tokens, events, store
  'documents', // scans of answers on paper
  'standing', // what was said and what is in force; status, records, holds, expiry
  'receipts', // compose, sign, store; JSON-LD and XML
  'sent-parts', // parts for peers at the leader, and notices to them
  'messages', // mails and text messages: rule, limits, queue
  'answer', // check, submit, code, commit; how a transaction ends without an answer
  'withdrawal', // withdraw consents, and tell the owners of parts
  'erasure', // hold, erase, retain
  'import', // take over answers of another system
  'received-parts', // parts of peers at the owner: accept, decide, withdraw, erase
  'verdicts', // what owners answer to sent parts and notices
  'request', // create, reuse, cancel; single step
  'decisions', // may this be done for this person?
  'statistics',
  'choices', // everything that one person has said: links to it, sessions, what can be done
  'present', // representations for clients and pages
  'export', // everything about one person, or about all
  'delivery', // compose messages and hand them to a mail server or gateway
  'campaigns', // ask people again: pick, send at most once, unsubscribe
  'http', // the operations of openapi.yaml
];
const inTransactions = (names) => `^services/transactions/(${names.join('|')})/`;
const roomOrder = rooms.map((room, index) => ({
  name: `room-${room}`,
  severity: 'error',
  comment: 'A room of services/transactions imports only rooms before it.',
  from: { path: inTransactions([room]) },
  to: {
    path: [inTransactions([...rooms.slice(index + 1), '-']), '^services/transactions/[^/]+\\.ts$'],
    pathNot: '^services/transactions/config\\.ts$',
  },
}));

/** Rules of services/transactions: they read and write nothing, and are tested without a server. */
const rules = {
  transaction:
    'values|context|parse-collection|contact|destination|transaction|access|links|token|short-link',
  documents: 'document-type',
  standing: 'in-force|standing-answer|status',
  receipts: 'receipt|notices|jsonld|xml',
  'sent-parts': 'part|notice|part-withdrawal',
  messages: 'message|limits',
  answer: 'answers|commitment|code',
  withdrawal: 'withdrawal|withdrawal-request',
  erasure: 'erasure',
  import: 'row|decide-rows|compose-transactions|receipt-evidence',
  'received-parts': 'peer-part',
  choices: 'session|choice|sent-answers',
  decisions: 'decision|mapping',
  request: 'parse-context|context-warnings',
  statistics: 'stats|valid-answers',
  campaigns: 'rules',
};
const rulePaths = Object.entries(rules).map(
  ([room, names]) => `^services/transactions/${room}/(${names})\\.ts$`,
);
const input = '^lib/(db|http|events|cache|outbound|internal)/|^node_modules/(pg|koa|kafkajs|ioredis|undici)/';

export default {
  forbidden: [
    ...roomOrder,
    {
      name: 'rules-do-no-io',
      severity: 'error',
      comment: 'A rule of services/transactions imports only rules.',
      from: { path: rulePaths },
      to: { path: [input, '^services/transactions/'], pathNot: rulePaths },
    },
    {
      name: 'console-rooms-are-apart',
      severity: 'error',
      comment: 'A room of the console imports no other; what several need stands beside the rooms.',
      from: { path: '^services/console/rooms/([^/]+)/' },
      to: { path: '^services/console/rooms/[^/]+/', pathNot: '^services/console/rooms/$1/' },
    },
    {
      name: 'services-are-apart',
      severity: 'error',
      comment:
        'Services never import each other; they talk over internal operations (lib/contracts) and events.',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/([^/]+)/', pathNot: '^services/$1/' },
    },
    {
      name: 'lib-knows-no-service',
      severity: 'error',
      from: { path: '^lib/' },
      to: { path: '^services/' },
    },
    {
      name: 'domain-has-no-io',
      severity: 'error',
      comment: 'Rules are tested without a database or a network.',
      from: { path: '^services/[^/]+/domain/' },
      to: { path: ['^services/[^/]+/(handlers|queries|commands|consumers|jobs|presenters)/', input] },
    },
    {
      name: 'definitions-load-code-late',
      severity: 'error',
      comment: 'Commands that need to know only what a service needs load none of its code (ADR 7).',
      from: { path: '^services/[^/]+/service\\.ts$' },
      to: {
        path: '^services/',
        pathNot: '/config\\.ts$',
        dynamic: false,
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'contracts-have-no-code',
      severity: 'error',
      from: { path: '^lib/contracts/' },
      to: { path: '.', pathNot: '^lib/(contracts|auth|errors)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-cycles-of-types-in-transactions',
      severity: 'error',
      comment: 'What a file of the service with the rules needs can be read from the top, types included.',
      from: { path: '^services/transactions/' },
      to: { circular: true },
    },
    {
      name: 'lib-folders-in-one-order',
      severity: 'error',
      comment: 'No two folders of lib import each other, not even types.',
      scope: 'folder',
      from: { path: '^lib/[^/]+$' },
      to: { circular: true, path: '^lib/[^/]+$' },
    },
    {
      name: 'no-test-code',
      severity: 'error',
      from: { path: '^(lib|services)/' },
      to: { path: '^(test|bench)/' },
    },
    driver('pg-in-lib-db', 'pg', 'lib/db'),
    driver('kafkajs-in-lib-events', 'kafkajs', 'lib/events'),
    driver('ioredis-in-lib-cache', 'ioredis', 'lib/cache'),
    driver('opentelemetry-in-lib-observability', '@opentelemetry', 'lib/observability'),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
