import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';

const run = promisify(execFile);

let key: { id: string; key: string };
const instance = useInstance();
beforeAll(async () => {
  key = await createKey(instance);
});

/** Runs curl as an integration's script does. @returns status, Location and what came. */
async function curl(...parameters: string[]) {
  const format = '\n%{http_code} %{redirect_url}%header{location}';
  const { stdout } = await run('curl', ['-s', '-w', format, ...parameters]);
  const end = stdout.lastIndexOf('\n');
  const [status, location] = stdout.slice(end + 1).split(' ');
  const text = stdout.slice(0, end);
  return {
    status: Number(status),
    location,
    text,
    json: text.startsWith('{') ? JSON.parse(text) : undefined,
  };
}

const json = ['-H', 'Content-Type: application/json', '-H', 'Accept: application/json'];
const context = (subject: string) =>
  JSON.stringify({
    subject,
    layoutData: {
      type: 'layout',
      elements: ['processing.001', 'processing.002'],
      orientation: 'VERTICAL',
      info: 'information.001',
    },
  });

/** The sequence of interface.md, from creation to COMMITTED. @param credentials headers of the caller. */
async function consentWith(credentials: string[], subject: string) {
  const made = await curl(
    '-X',
    'POST',
    `${instance.url}/consents`,
    ...json,
    ...credentials,
    '-d',
    context(subject),
  );
  expect(made).toMatchObject({ status: 201, json: { subject, state: 'CREATED' } });
  const { id, token } = made.json as { id: string; token: string };
  const task = `${instance.url}/consents/${id}/submit?t=${token}`;
  const form = (await curl(task, ...json, ...credentials)).json as {
    info: { entry: { key: string }; serial: string };
    elements: { entry: { key: string }; serial: string }[];
  };
  const answers = {
    info: [`element/information/${form.info.entry.key}/${form.info.serial}`],
    ...Object.fromEntries(
      form.elements.map(({ entry, serial }) => [`element/processing/${entry.key}/${serial}`, ['accepted']]),
    ),
  };
  const submitted = await curl('-X', 'POST', task, ...json, ...credentials, '-d', JSON.stringify(answers));
  expect(submitted).toMatchObject({ status: 200, json: { id, state: 'COMMITTED' } });
  const seen = await curl(`${instance.url}/consents/${id}?t=${token}`, ...json);
  expect(seen.json).toMatchObject({ id, subject, state: 'COMMITTED' });
}

describe("the interface document's sequence of calls", () => {
  it('works with a token of the password grant', async () => {
    const grant = ['client_id=cmclient', 'username=operator', 'password=demo', 'grant_type=password'];
    const { json: granted } = await curl(`${instance.url}/auth`, ...grant.flatMap((field) => ['-d', field]));
    await consentWith(['-H', `Authorization: Bearer ${granted.access_token}`], 'with a token');
  });

  it('works with an API key', async () => {
    await consentWith(['-H', `CM_KEY: ${key.key}`], 'with a key');
  });

  it('works with both headers', async () => {
    const { headers } = await signIn(instance, 'operator');
    const both = ['-H', `CM_KEY: ${key.key}`, '-H', `Authorization: ${headers.Authorization}`];
    await consentWith(both, 'with both');
  });

  it.each([
    ['Bearer'],
    ['Bearer null'],
    ['Basic'],
    ['Bearer <ACCESS_TOKEN>'],
    ['nonsense'],
    ['Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.'],
    ['Digest username="a"'],
  ])('works with a valid key beside the malformed "Authorization: %s"', async (malformed) => {
    const both = ['-H', `CM_KEY: ${key.key}`, '-H', `Authorization: ${malformed}`];
    await consentWith(both, `beside ${malformed}`);
  });

  it('is rejected with a wrong key, even with a valid Authorization', async () => {
    const { headers } = await signIn(instance, 'operator');
    const wrong = ['-H', 'CM_KEY: wrong', '-H', `Authorization: ${headers.Authorization}`];
    const refused = await curl(
      '-X',
      'POST',
      `${instance.url}/consents`,
      ...json,
      ...wrong,
      '-d',
      context('x'),
    );
    expect(refused).toMatchObject({ status: 401, json: { status: 401 } });
  });

  it('redirects a browser from the link to the form, and after the answer to the final page', async () => {
    const owner = ['-H', `CM_KEY: ${key.key}`];
    const made = await curl(`${instance.url}/consents`, ...json, ...owner, '-d', context('a browser'));
    const { token } = made.json as { token: string };
    const link = `${made.json.task.replace('/submit', '')}?t=${token}`;
    const page = await curl('-L', '-H', 'Accept: text/html', link);
    expect(page.status).toBe(200);
    const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') as string;
    expect(action).toContain('/submit?t=');
    const fields = [
      'info=element/information/information.001/1.0',
      'element/processing/processing.001/1.0=refused',
      'element/processing/processing.002/1.0=refused',
    ].flatMap((field) => ['--data-urlencode', field]);
    const final = await curl('-L', '-H', 'Accept: text/html', ...fields, new URL(action, link).href);
    expect(final.status).toBe(200);
    expect(final.text).toContain('Your answers are saved');
  });
});
