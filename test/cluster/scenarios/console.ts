import { randomBytes } from 'node:crypto';
import { signInToConsole } from '../../support/console/console-person.ts';
import { type Organisation, release } from '../organisation.ts';
import { expectThat, type Scenario } from '../scenario.ts';

const pages = ['/console', '/console/elements', '/console/forms', '/console/subjects', '/console/audit'];

/** The first administrator, and the pages of the back office. */
export const consoleScenarios: Scenario[] = [
  {
    name: 'console',
    isQuick: true,
    promise:
      'The first administrator, created in a pod of auth, signs in to the console through the router and opens its pages.',
    run: ({ organisation }) => useConsole(organisation),
  },
];

/** Creates an administrator and opens pages of the console, as docs/kubernetes.md describes. */
export async function useConsole({ url, kubectl }: Organisation): Promise<string> {
  const [name, password] = ['admin', 'pass'].map((kind) => `${kind}-${randomBytes(9).toString('hex')}`);
  const command = `printf '%s\\n' '${password}' | accord account add ${name} --role admin`;
  await kubectl('exec', `deploy/${release}-auth`, '--', 'sh', '-euc', command);
  const person = await signInToConsole(url, name as string, { password: password as string });
  for (const path of pages) {
    const page = await person.open(path);
    expectThat(page.status === 200 && page.path === path, `${path} ends with ${page.status} at ${page.path}`);
  }
  return `${pages.length} pages`;
}
