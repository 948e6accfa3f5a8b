import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';

const instance = useInstance();
let operator: ConsolePages;
beforeAll(async () => {
  operator = await openPages(instance, 'operator');
});
afterAll(() => operator?.close());

const here = '/console/subjects/decisions';
const question = 'element/processing/processing.001/1.0';
const page = async (path: string) => (await operator.get(path)).text();
const decide = async (fields: Record<string, string>) => (await operator.post(here, fields)).text();
const linkTo = (html: string, path: RegExp) =>
  html
    .match(/href="([^"]+)"/g)
    ?.map((each) => each.slice(6, -1).replaceAll('&amp;', '&'))
    .find((each) => path.test(each)) ?? '';
async function answer(subject: string, decision: string, more: object = {}): Promise<void> {
  const caller = await signIn(instance, 'operator');
  const context = { subject, layoutData: { elements: ['processing.001'] }, ...more };
  await caller.send('POST', '/consents/singlestep', { context, values: { [question]: [decision] } });
}

it('a decision says in words whether the person permits it, why, until when, and by which transaction', async () => {
  await answer('Ann Example', 'accepted');
  const html = await decide({ subject: 'Ann Example', elements: 'processing.001' });
  expect(html).toMatch(/class="full"[\s\S]*Allowed[\s\S]*The person has accepted, and the answer is valid\./);
  expect(html).toContain('href="/console/elements/processing.001"');
  expect(await page(linkTo(html, /transactions\/\w+$/))).toContain('Ann Example');
  // Only records of the elements in question are read.
  expect(html).toContain('/records?elements=processing.001');
  expect(html).not.toContain('Missing answers');
});

it('each reason has its sentence: refused, withdrawn, not answered, unknown', async () => {
  const asked = { subject: 'bert', elements: 'processing.001', others: 'no.such.key\npreference.001' };
  expect(await decide(asked)).toContain('The person has not answered this element.');
  await answer('bert', 'refused');
  expect(await decide(asked)).toContain('The person has refused.');
  await answer('bert', 'accepted');
  await answer('bert', 'refused');
  const html = await decide(asked);
  expect(html).toContain('The person had accepted and has withdrawn the consent.');
  expect(html.match(/There is no such processing and no such conditions\./g)).toHaveLength(2);
  expect(html).not.toContain('Missing answers');
});

it('a purpose is decided with all of its elements below', async () => {
  const admin = await signIn(instance, 'admin');
  const body = { subject: 'carla', questions: [{ purpose: 'CONSENT_IMPROVED_SERVICE' }] };
  const response = await admin.send('POST', '/decisions', body);
  const { decisions } = ((await response.json()) as { decisions: [{ decisions: { element: string }[] }] })
    .decisions[0];
  expect(decisions.length).toBeGreaterThan(0);
  const html = await decide({ subject: 'carla', purposes: 'CONSENT_IMPROVED_SERVICE' });
  expect(html).toContain('Purpose: Improving the service');
  expect(html).toContain('At least one processing with this purpose is not allowed.');
  for (const { element } of decisions) expect(html).toContain(`href="/console/elements/${element}"`);
});

it('an answer counts for its object alone, and a past moment has the decision of then', async () => {
  await answer('dora', 'accepted', { object: 'card 7' });
  const asked = { subject: 'dora', elements: 'processing.001' };
  expect(await decide({ ...asked, object: 'card 7' })).toContain('The person has accepted');
  expect(await decide(asked)).toContain('The person has not answered');
  const past = await decide({ ...asked, object: 'card 7', asOf: '2020-05-03T10:00' });
  expect(past).toContain('datetime="2020-05-03T10:00:00.000Z"');
  expect(past).not.toContain('The person has accepted');
});

it('what is missing can be answered on behalf, with its elements and object filled in', async () => {
  const html = await decide({ subject: 'Emil Example', elements: 'processing.001', object: 'card 7' });
  const record = linkTo(html, /\/record\?/);
  const form = await page(record);
  expect(form).toContain('Answer on behalf of Emil Example');
  expect(form).toContain(`name="${question}"`);
  expect(form).toContain('value="card 7"');
  const urls = html.match(/(href|action|src)="[^"]*"/g)?.join() ?? '';
  expect(urls).not.toMatch(/Emil|card/);
  const link = await decide({ subject: 'Emil Example', elements: 'processing.001' });
  expect(await page(linkTo(link, /\/link$/))).toContain('A form for Emil Example');
});

it('the page of a person leads to decisions with the person filled in', async () => {
  await answer('Fay Example', 'accepted');
  const found = await operator.post('/console/subjects', { word: 'Fay Example' });
  const form = await page(linkTo(await page(found.headers.get('location') ?? ''), /decisions/));
  expect(form).toContain('value="Fay Example"');
});

it('the same by API is the request itself', async () => {
  const html = await decide({ subject: 'gus', elements: 'processing.001', purposes: 'CONSENT_MARKETING' });
  const calls = html.replaceAll('&quot;', '"').replaceAll('&#39;', "'");
  expect(calls).toContain('/decisions');
  expect(calls).toContain(
    '{"subject":"gus","questions":[{"element":"processing.001"},{"purpose":"CONSENT_MARKETING"}]}',
  );
});

it('a fault is told at its field, once, and what was typed stays', async () => {
  const asked = {
    subject: 'hana',
    elements: 'processing.001',
    others: 'terms.1',
    asOf: '2999-01-01T00:00',
  };
  const future = await operator.post(here, asked);
  const html = await future.text();
  expect(future.status).toBe(422);
  expect(html).toMatch(/id="field-asOf-fault"[^>]*>Enter a moment in the past\./);
  expect(html).toContain('One entry needs your attention');
  expect(html).toContain('value="hana"');
  const faults = [
    [{ subject: 'hana' }, /Processings and conditions: Choose 1 to 100 elements and purposes\./],
    [{ subject: ' ', elements: 'processing.001' }, /id="field-subject-fault"[^>]*>Fill in this field\./],
    [{ ...asked, asOf: 'tomorrow' }, /id="field-asOf-fault"/],
    [{ subject: 'hana', others: 'key '.repeat(101) }, /Choose 1 to 100 elements/],
  ] as const;
  for (const [fields, fault] of faults) {
    const response = await operator.post(here, fields);
    expect(response.status).toBe(422);
    expect(await response.text()).toMatch(fault);
  }
});

it('hostile texts are shown as texts', async () => {
  const hostile = '<script>alert(1)</script>';
  const html = await decide({ subject: hostile, object: hostile, others: hostile, purposes: hostile });
  expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(html).not.toContain('<script>alert');
});

it.each(['en', 'fr', 'ar'])('decisions have all their words in %s', async (language) => {
  const headers = { 'Accept-Language': language };
  const form = await (await operator.get(here, headers)).text();
  const others = `processing.001 no.such.key`;
  const sent = new URLSearchParams({ subject: `words ${language}`, others, purposes: 'CONSENT_MARKETING' });
  const decided = await fetch(`${operator.origin}${here}`, {
    method: 'POST',
    headers: { ...headers, Origin: operator.origin },
    body: sent,
  });
  for (const html of [form, await decided.text()]) {
    expect(html).toContain(`lang="${language}"`);
    expect(html).not.toMatch(/>\s*(decisions|purpose|reason|record|subjects|answers|link)\.[a-zA-Z_.-]+</);
    expect(html).not.toMatch(/>(NO_ANSWER|UNKNOWN|CONSENT_MARKETING)</);
  }
});

it('decisions are for people with a role of the console', async () => {
  const user = await openPages(instance, 'user');
  expect((await user.get(here)).status).toBe(403);
  expect((await user.post(here, { subject: 'user', elements: 'processing.001' })).status).toBe(403);
  await user.close();
});
