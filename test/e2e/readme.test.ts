import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signIn } from '../support/callers.ts';
import { type HostSite, startHostSite } from '../support/host-site.ts';
import { createTransaction } from '../support/live-transactions.ts';
import { subjectSession } from '../support/subject-session.ts';

const run = promisify(execFile);
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const session = subjectSession();
let host: HostSite;

beforeAll(async () => {
  host = await startHostSite();
});
afterAll(() => host?.close());

/** The lines of a block of code in the README, about this instance. */
function block(heading: string, language: string): string {
  const section = readme.split('\n## ').find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? '';
  return lines.replaceAll('http://localhost:8080', session.instance.url);
}

describe('the first page', () => {
  it('has lines to copy that work as they stand, one by one', async () => {
    await session.open(`${session.instance.url}/`);
    const commands = await session.page.locator('.steps code').allInnerTexts();
    expect(commands).toHaveLength(5);
    const { stdout, stderr } = await run('sh', ['-eu', '-c', commands.join('\n')]);
    expect(stderr).toBe('');
    expect(stdout).toContain('/consents/');
    expect(stdout).toContain('"elements":[');
    expect(stdout).toContain('"state":"CREATED"');
  });
});

describe('the README', () => {
  it('makes the first consent with five curl lines, and once more without harm', async () => {
    const lines = block('The first consent', 'sh');
    expect(lines.match(/\bcurl /g)).toHaveLength(5);
    for (let time = 0; time < 2; time += 1) {
      const { stdout, stderr } = await run('sh', ['-eu', '-c', lines]);
      expect(stderr).toBe('');
      expect(stdout).toContain('"state":"COMMITTED"');
    }
    const operator = await signIn(session.instance, 'operator');
    const records = await (await operator.get('/records?subject=alice')).json();
    expect(records).toMatchObject({
      'processing.001': [{ value: 'accepted', status: 'VALID' }],
      'processing.002': [{ value: 'refused', status: 'VALID' }],
      'preference.001': [{ value: 'Once a month', status: 'VALID' }],
    });
  });

  it('embeds a form with three lines of HTML', async () => {
    const { id, url } = await createTransaction(session.operator);
    const lines = block('Embedding', 'html');
    expect(lines.trim().split('\n')).toHaveLength(3);
    const told: string[] = [];
    const path = host.show(lines.replace('THE TRANSACTION URL', url));
    await session.open(`${host.origin}${path}`, {}, [host.origin]);
    session.page.on('console', (message) => told.push(message.text()));
    const form = session.page.frameLocator('iframe');
    for (const choice of await form.getByLabel('Refuse').all()) await choice.check();
    await form.getByLabel('Once a month').check();
    await form.getByRole('button', { name: 'Save my choices' }).click();
    await expect.poll(() => told.join('\n')).toContain(`{transaction: ${id}, state: COMMITTED}`);
  });

  it('shows pages that exist', () => {
    const links = [...readme.matchAll(/\]\((?!http)([^)#]+)\)/g)].map(([, link]) => link as string);
    expect(links.filter((link) => !existsSync(new URL(`../../${link}`, import.meta.url)))).toEqual([]);
  });
});
