import { expectThat, type Scenario, type Stage } from '../scenario.ts';

const migrate = '--selector=app.kubernetes.io/component=migrate';

/**
 * Faults of operators: the release fails and says why in one sentence, and the running version continues to
 * serve.
 */
export const faultyScenarios: Scenario[] = [
  {
    name: 'unreachable database',
    promise: 'An upgrade with a database that cannot be reached fails, and the log of the Job says why.',
    run: (stage) =>
      refusedUpgrade(stage, {
        values: {
          database: {
            host: 'nowhere',
            port: 5432,
            tls: { enabled: false },
            owner: { existingSecret: 'trial-postgres' },
          },
        },
        reason: /database at nowhere:5432 .*cannot be used/,
        read: readJob,
      }),
  },
  {
    name: 'wrong password',
    promise: 'An upgrade with a wrong password of the database owner fails, and the log of the Job says why.',
    async run(stage) {
      const { kubectl } = stage.organisation;
      await kubectl('create', 'secret', 'generic', 'wrong', '--from-literal=password=wrong');
      return refusedUpgrade(stage, {
        values: {
          database: { host: 'trial-postgres', tls: { enabled: false }, owner: { existingSecret: 'wrong' } },
        },
        reason: /database at trial-postgres:5432 .*cannot be used: .*password/i,
        read: readJob,
      });
    },
  },
  {
    name: 'older schema',
    promise:
      'A version that is newer than the schema does not become ready and says why; the version before serves.',
    run: (stage) =>
      refusedUpgrade(stage, {
        values: { image: { tag: stage.nextTag } },
        words: ['--no-hooks'],
        reason: /schema|migrat/i,
        read: readTransactions,
      }),
  },
  {
    name: 'incomplete Secret',
    promise: 'Pods whose Secret lacks an entry do not start, and their events name the entry.',
    async run(stage) {
      const { kubectl } = stage.organisation;
      await kubectl('create', 'secret', 'generic', 'incomplete', '--from-literal=key-pepper=x');
      return refusedUpgrade(stage, {
        values: { secrets: { existingSecret: 'incomplete' } },
        words: ['--no-hooks'],
        reason: /references non-existent secret key: \S+/,
        read: () =>
          kubectl(
            'get',
            'events',
            '--field-selector=reason=FailedMount',
            '--output=jsonpath={.items[*].message}',
          ),
      });
    },
  },
];

interface Fault {
  values: object;
  words?: readonly string[];
  /** What the sentence must contain. */
  reason: RegExp;
  read(stage: Stage): Promise<string>;
}

/**
 * Upgrades with a fault. @returns the sentence that says why the release fails. @throws if it does not fail,
 * says nothing, or the running version stops serving
 */
export async function refusedUpgrade(
  stage: Stage,
  { values, words = [], reason, read }: Fault,
): Promise<string> {
  const { organisation, form } = stage;
  try {
    const isRefused = await organisation
      .deploy({ ...values, jobs: { timeout: 60 } }, ['--timeout=75s', ...words])
      .then(
        () => false,
        () => true,
      );
    expectThat(isRefused, 'the upgrade succeeded');
    const sentence = (await read(stage)).match(
      new RegExp(`[^\\n]*(?:${reason.source})[^\\n]*`, reason.flags),
    )?.[0];
    expectThat(sentence, 'no sentence says why');
    const { status } = await form.client.get('/transactions?size=1', { CM_KEY: form.key });
    expectThat(status === 200, `the running version answers ${status}`);
    return `“${sentence.trim().slice(0, 200)}”`;
  } finally {
    await organisation.deploy();
  }
}

function readJob({ organisation }: Stage): Promise<string> {
  return organisation.kubectl('logs', migrate, '--tail=-1');
}

async function readTransactions({ organisation }: Stage): Promise<string> {
  const selector = '--selector=app.kubernetes.io/component=transactions';
  const log = await organisation.kubectl('logs', selector, '--tail=-1', '--ignore-errors');
  return log.replaceAll(/^.*"msg":("[^\n]*?")[,}].*$/gm, (_line, message: string) => JSON.parse(message));
}
