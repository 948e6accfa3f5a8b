/** The boundaries of docs/architecture.md, checked by `npm run check`. */
const driver = (name, module, folder) => ({
  name,
  severity: 'error',
  comment: `Only ${folder} knows ${module}.`,
  from: { path: '^(lib|services)/', pathNot: `^${folder}/` },
  to: { path: `^node_modules/${module}/`, dependencyTypesNot: ['type-only'] },
});

export default {
  forbidden: [
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
      to: {
        path: '(^services/[^/]+/(handlers|queries|commands|consumers|jobs|presenters)/|^lib/(db|http|events|cache)/|^node_modules/(pg|koa|kafkajs|ioredis)/)',
      },
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
