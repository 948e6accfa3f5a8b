import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take 20 seconds or more, the longest first; but between those that start a dozen processes
 * others have their turn.
 */
const long = [
  'chaos/short-run',
  'e2e/subject-pages',
  'kafka/kafka-faults',
  'chaos/peers/short-run',
  'kafka/distributed-restart',
  'e2e/pages-axe',
  'chaos/planted/planted',
  'kafka/kafka-bus',
  'kafka/peers-canary',
  'chaos/crash',
  'e2e/subject-embedded',
  'integration/embedded-postgres',
  'security/authorisation-matrix',
  'integration/embedded-postgres-users',
  'service/webhooks-failures',
  'integration/deploy-image',
  'integration/migrate-command',
  'security/peers-canary',
  'service/service-process',
  'service/peers-queues',
  'security/odd-bodies',
].map((name) => `/test/${name}.test.ts`);

/**
 * The order in which files begin: long ones first, so that at the end no worker is idle while another has a
 * minute to go. Those that share a process come last, one after the other: a process that other files come
 * between is not used again.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files);
    return bySize.sort(
      (one, other) =>
        sharing(one) - sharing(other) ||
        (sharing(one) && one.project.name.localeCompare(other.project.name)) ||
        rankOf(one) - rankOf(other),
    );
  }
}

const sharing = ({ project }: TestSpecification) => Number(!project.config.isolate);

function rankOf({ moduleId }: TestSpecification): number {
  const rank = long.findIndex((name) => moduleId.endsWith(name));
  return rank < 0 ? long.length : rank;
}
