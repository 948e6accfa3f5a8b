import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { type HostSite, startHostSite } from '../support/pages/host-site.ts';
import { subjectSession } from '../support/pages/subject-session.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { until } from '../support/run/until.ts';

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

/** Runs lines as they are pasted into a terminal. @returns what they print. */
async function paste(lines: string): Promise<string> {
  const { stdout, stderr } = await run('sh', ['-eu', '-c', lines]);
  expect(stderr).toBe('');
  return stdout;
}

/**
 * What the lines of a first consent print: a form, a committed transaction and the records of a subject that
 * nobody else is.
 */
function expectConsent(printed: string): void {
  expect(printed).toContain('"elements":[');
  expect(printed).toContain('"state":"COMMITTED"');
  const records = JSON.parse(printed.slice(printed.lastIndexOf('{"preference.001":')));
  expect(records).toMatchObject({
    'processing.001': [{ value: 'accepted', status: 'VALID' }],
    'processing.002': [{ value: 'refused', status: 'VALID' }],
    'preference.001': [{ value: 'Once a month', status: 'VALID' }],
  });
}

describe('the first page', () => {
  it('has lines to copy that make a consent as they stand, and another one when they are run again', async () => {
    await session.open(`${session.instance.url}/`);
    const commands = await session.page.locator('.steps code').allInnerTexts();
    expect(commands).toHaveLength(5);
    for (let time = 0; time < 2; time += 1) expectConsent(await paste(commands.join('\n')));
  });

  it('has three lines of HTML that embed its form in any page', async () => {
    await session.open(`${session.instance.url}/`);
    const lines = await session.page.locator('.snippet code').innerText();
    expect(lines.split('\n')).toHaveLength(3);
    await session.open(`${host.origin}${host.show(lines)}`, {}, [host.origin]);
    await session.page.frameLocator('iframe').getByRole('button', { name: 'Save my choices' }).waitFor();
  });

  it('says what was copied to eyes and to screen readers', async () => {
    await session.open(`${session.instance.url}/`);
    const { page } = session;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const button = page.locator('.steps .copy').first();
    await button.click();
    await expect.poll(() => button.innerText()).toBe('Copied');
    await expect.poll(() => page.locator('[role=status][data-copy-status]').textContent()).toBe('Copied');
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('TOKEN=$(curl ');
    await expect.poll(() => button.innerText(), { timeout: 5_000 }).toBe('Copy');
  });
});

describe('the README', () => {
  it('makes a first consent with five curl lines, and another one when they are run again', async () => {
    const lines = block('The first consent', 'sh');
    expect(lines.match(/\bcurl /g)).toHaveLength(5);
    expect(lines).not.toMatch(/\b(sed|awk|jq|grep|python3?)\b/);
    for (let time = 0; time < 2; time += 1) expectConsent(await paste(lines));
  });

  it('confirms answers with a code by e-mail with lines for the same terminal', async () => {
    const lines = [block('The first consent', 'sh'), block('A code by e-mail', 'sh')].join('');
    for (let time = 0; time < 2; time += 1) {
      const printed = await paste(lines);
      const committed = JSON.parse(printed.slice(printed.lastIndexOf('{"id":')));
      expect(committed).toMatchObject({ state: 'COMMITTED', subject: expect.stringMatching(/^carol-/) });
    }
  });

  it('embeds a form in a page of its own with lines for the same terminal', async () => {
    const port = String(await freePort());
    const lines = [block('The first consent', 'sh'), block('Embedding', 'sh').replace('8000', port)].join('');
    const folder = await temporaryFolder();
    const terminal = execFile('sh', ['-eu', '-c', lines.replace('\nnode -e', '\nexec node -e')], {
      cwd: folder,
    });
    onTestFinished(() => void terminal.kill());
    const address = `http://localhost:${port}`;
    await until(async () => expect((await fetch(address)).status).toBe(200));
    await session.open(address, {}, [address]);
    await session.page.frameLocator('iframe').getByRole('button', { name: 'Save my choices' }).waitFor();
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
