import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { subjectSession } from '../support/pages/subject-session.ts';

// What is tried is carried from page to page until the tab is closed.
const session = subjectSession({}, ['stored data for the session']);
const operation = (id: string) => session.page.locator(`#${id}`);

const openGroup = (group: string, options = {}) =>
  session.open(`${session.instance.url}/docs?group=${group}`, options);

/** Opens an operation's form and sends it. @returns status line and blocks of the reply. */
async function tryOut(id: string) {
  const article = operation(id);
  const form = article.locator('form[data-operation]');
  if (!(await form.isVisible())) await article.getByText('Try it out').click();
  await form.getByRole('button', { name: 'Send' }).click();
  await expect.poll(() => form.locator('output').innerText()).toMatch(/^\d{3} /);
  const part = (name: string) => article.locator(`[data-part=${name}]`).innerText();
  return { status: await form.locator('output').innerText(), part };
}

/** Opens another page of the documentation in the same tab, as a reader does. */
async function follow(name: string) {
  await session.page.locator('.reference-nav').getByRole('link', { name, exact: true }).click();
  await session.page.waitForURL(/group=/);
}

async function openSignedIn(group: string) {
  await openGroup(group);
  const signIn = session.page.locator('[data-sign-in]');
  await signIn.getByLabel('Name').fill('operator');
  await signIn.getByLabel('Password').fill('demo');
  await signIn.getByRole('button', { name: 'Sign in' }).click();
  await expect.poll(() => signIn.locator('output').innerText()).toBe('Signed in.');
}

describe('trying out operations in the documentation', () => {
  it('leads from a context to a receipt with nothing typed: ids, tokens and answers are carried on', async () => {
    await openSignedIn('consents');
    const created = await tryOut('createTransaction');
    expect(created.status).toMatch(/^201 Created in \d+ ms · filled into other requests: /);
    expect(await created.part('headers')).toMatch(/^location: .+\/consents\/.+\?t=/m);
    expect(await created.part('headers')).toMatch(/^api-version: \d/m);
    expect(await created.part('request')).toMatch(/^curl -i -X POST '/);
    const { id } = JSON.parse(await created.part('body')) as { id: string };
    const form = await tryOut('getForm');
    expect(form.status).toMatch(/^200 /);
    const submitted = await tryOut('submitAnswers');
    expect(JSON.parse(await submitted.part('body'))).toMatchObject({ id, state: 'COMMITTED' });
    await follow('receipts');
    const receipt = await tryOut('getReceipt');
    expect(JSON.parse(await receipt.part('body'))).toMatchObject({ transaction: id });
  });

  it('carries the id of one resource to the operations on it, and to no other', async () => {
    await openSignedIn('models');
    const listed = await tryOut('listModels');
    const [model] = (JSON.parse(await listed.part('body')) as { values: { id: string }[] }).values;
    const field = (id: string, name: string) => operation(id).locator(`input[name=${name}]`).inputValue();
    expect(await field('getModel', 'id')).toBe(model?.id);
    expect(await field('listVersions', 'id')).toBe(model?.id);
    await follow('keys');
    expect(await field('revokeKey', 'id')).toBe('');
  });

  it('offers every example of the contract', async () => {
    await openGroup('consents');
    const article = operation('createTransaction');
    await article.getByText('Try it out').click();
    await article.locator('[data-examples]').selectOption({ index: 1 });
    expect(await article.locator('[data-in=body]').inputValue()).toContain('"layout": "layout.001"');
    await article.getByText('Example of a 200').click();
    await article.getByText('"links": {').first().waitFor();
  });
});

describe('the navigation of the documentation', () => {
  it('names operations by what they do and can be filtered by summary, method and address', async () => {
    await session.open(`${session.instance.url}/docs`);
    const { page } = session;
    const links = page.locator('.reference-nav li:visible');
    const all = await links.count();
    expect(all).toBeGreaterThan(50);
    await page.getByLabel('Filter operations').fill('delete receipt');
    await expect.poll(() => links.count()).toBe(0);
    await page.getByLabel('Filter operations').fill('create transaction');
    await expect.poll(() => links.count()).toBeLessThan(6);
    expect((await links.first().innerText()).split('\n')[0]).toBe('Create a transaction');
    expect(await page.locator('[data-filter-status]').innerText()).toMatch(/^\d of \d+ operations$/);
    await page.getByLabel('Filter operations').press('Escape');
    await expect.poll(() => links.count()).toBe(all);
  });

  it('is there without JavaScript, and so are summaries and examples', async () => {
    await openGroup('consents', { javaScriptEnabled: false });
    const { page } = session;
    expect(await page.locator('.reference-nav').innerText()).toContain('Create a transaction');
    expect(await page.getByLabel('Filter operations').isVisible()).toBe(false);
    await operation('createTransaction').getByText('Example of a 200').click();
    await operation('createTransaction').getByText('"links": {').first().waitFor();
  });

  it('marks the page and the operation that are shown, and leads from an old address to the page of an operation', async () => {
    await session.open(`${session.instance.url}/docs#submitAnswers`);
    const { page } = session;
    await page.waitForURL(/\/docs\?group=consents#submitAnswers$/);
    const marked = page.locator('.reference-nav [aria-current]');
    expect(await marked.allInnerTexts()).toEqual(['consents', expect.stringMatching(/^Submit/)]);
  });
});

describe('the example requests of the documentation', () => {
  it('run as they are, in a shell and in Node.js', async () => {
    const { instance } = session;
    await openGroup('consents');
    const article = operation('createTransaction');
    await article.getByText('Example request').click();
    const [curl, node] = await article.locator('.example pre').allInnerTexts();
    const fields = { grant_type: 'password', client_id: 'accord', username: 'operator', password: 'demo' };
    const answer = await fetch(`${instance.url}/auth`, { method: 'POST', body: new URLSearchParams(fields) });
    const { access_token: TOKEN } = (await answer.json()) as { access_token: string };
    const env = { ...process.env, TOKEN };
    const run = promisify(execFile);
    expect((await run('bash', ['-c', `${curl?.replace('curl', 'curl -s')}`], { env })).stdout).toContain(
      '"links"',
    );
    const module = ['--input-type=module', '-e', node ?? ''];
    expect((await run(process.execPath, module, { env })).stdout).toMatch(/^20[01] /);
  });
});
