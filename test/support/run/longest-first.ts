import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take 12 seconds or more, the longest first. Between files that start a dozen processes are
 * files that keep a processor busy by themselves (vitest.config.ts, "busy").
 */
const long = [
  'chaos/short-run',
  'chaos/peers/short-run',
  'e2e/console-rooms',
  'kafka/kafka-faults',
  'chaos/planted/planted',
  'e2e/pages-axe',
  'kafka/distributed-restart',
  'security/authorisation-matrix',
  'chaos/crash',
  'kafka/erasures-killed',
  'chaos/peers/rights-killed',
  'e2e/subject-pages',
  'kafka/kafka-bus',
  'kafka/peers-canary',
  'kafka/hostile-network',
  'kafka/distributed-path',
  'kafka/router',
  'kafka/topics',
  'security/hostile-texts',
  'security/hostile-texts-peers',
  'integration/deploy-image',
  'integration/embedded-postgres',
  'service/peers-erasure',
  'service/webhooks-recipients-killed',
  'integration/embedded-postgres-users',
  'security/hostile-texts-issuer',
  'e2e/console-rich-text',
  'e2e/console-acts',
  'service/tracing',
  'integration/migrate-command',
  'e2e/console-tools',
  'service/peers-queues',
  'integration/outbox-relay',
  'e2e/console-editor',
  'e2e/subject-embedded',
  'integration/delivery-engine',
  'service/service-process',
  'e2e/console-rich-trees',
  'security/peers-canary',
  'e2e/console-markup',
  'service/auth-accounts',
  'service/retention',
  'security/odd-bodies',
  'service/peers-answers',
  'e2e/subject-path',
  'service/peers-withdrawal',
  'e2e/subject-redirect',
  'service/standalone-process',
  'service/sms-transport',
  'unit/pdf-renderer',
  'e2e/subject-confirm',
  'service/secrets-lost',
  'integration/internal-operations',
  'security/odd-parameters',
  'integration/db-advisory-lock',
  'service/mail-transport',
  'service/auth-outside-issuer',
  'integration/helm-rollout',
].map((name) => `/test/${name}.test.ts`);

/**
 * The order in which files begin: long ones first, so that at the end no worker is idle while another has a
 * minute to go. Those that share a process come last: a process that other files come between is not used
 * again.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files);
    return bySize.sort((one, other) => sharing(one) - sharing(other) || rankOf(one) - rankOf(other));
  }
}

const sharing = ({ project }: TestSpecification) => Number(!project.config.isolate);

function rankOf({ moduleId }: TestSpecification): number {
  const rank = long.findIndex((name) => moduleId.endsWith(name));
  return rank < 0 ? long.length : rank;
}
