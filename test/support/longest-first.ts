import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Each of these takes longer than any other file, the first longest. */
const long = [
  'chaos/short-run',
  'e2e/pages-axe',
  'chaos/peers/short-run',
  'kafka/distributed-restart',
  'e2e/subject-pages',
  'chaos/planted/planted',
  'chaos/crash',
  'integration/embedded-postgres',
  'security/authorisation-matrix',
].map((name) => `/test/${name}.test.ts`);

/** Those that have a process of their own begin, so that the others can share theirs to the end. */
const projects = ['chaos', 'kafka', 'e2e', 'fast'];

/** The order in which files begin: long ones first, so that at the end no worker is idle while another has a minute to go. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const bySize = await super.sort(files);
    return bySize
      .map((file, index) => ({
        file,
        rank: [projects.indexOf(file.project.name), rankOf(file.moduleId), index],
      }))
      .sort((one, other) => compare(one.rank, other.rank))
      .map(({ file }) => file);
  }
}

function rankOf(moduleId: string): number {
  const rank = long.findIndex((name) => moduleId.endsWith(name));
  return rank < 0 ? long.length : rank;
}

function compare(one: readonly number[], other: readonly number[]): number {
  const different = one.findIndex((rank, index) => rank !== other[index]);
  return different < 0 ? 0 : (one[different] as number) - (other[different] as number);
}
