import { describe, expect, it } from 'vitest';
import { useInstance } from '../support/instances/instance.ts';
import { openRaw, sendRaw } from '../support/network/raw-request.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();

const ask = (target: string, headers: string[] = []) =>
  sendRaw(
    instance.url,
    [`GET ${target} HTTP/1.1`, 'Host: a', 'Connection: close', ...headers, '', ''].join('\r\n'),
  );

describe('a request target', () => {
  it.each(['http://[:::', 'http://[:::/consents', 'HTTP://[', 'http://a:99999999/', 'https://%zz/'])(
    'that is not valid gets a problem document: %s',
    async (target) => {
      const answer = await ask(target);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toMatch(/^content-type: application\/problem\+json/im);
      const problem = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as object;
      expect(problem).toMatchObject({ status: 400, type: `${instance.url}/docs/problems/malformed` });
    },
  );

  it('that is not valid gets a page in a browser', async () => {
    expect(await ask('http://[:::', ['Accept: text/html'])).toMatch(/^HTTP\/1\.1 400 [\s\S]*<html/);
  });

  it('in absolute-form leads to the same resource as its path (RFC 9112)', async () => {
    expect(await ask('http://any.example/openapi.json')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask('http://any.example/user')).toMatch(/^HTTP\/1\.1 401 /);
    expect(await ask('http://any.example/auth/jwks?a=b')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('broken requests', () => {
  it('are not logged as errors', async () => {
    const form = 'Host: a\r\nContent-Type: application/x-www-form-urlencoded\r\n';
    await sendRaw(
      instance.url,
      `POST /auth HTTP/1.1\r\n${form}Transfer-Encoding: chunked\r\n\r\nno size\r\n`,
    );
    await sendRaw(
      instance.url,
      `POST /consents HTTP/1.1\r\n${form}Transfer-Encoding: chunked\r\n\r\n4\r\nabcdX`,
    );
    await sendRaw(instance.url, 'GET /user HTTP/1.1\r\nHost: a\r\n\r\nthis is no request\r\n\r\n');
    const breaking = openRaw(
      instance.url,
      `POST /auth HTTP/1.1\r\n${form}Content-Length: 100\r\n\r\nclient_id=`,
    );
    breaking.destroy();
    await until(() => expect(instance.logs().match(/"status":4\d\d/g)?.length).toBeGreaterThanOrEqual(3));
    expect(instance.logs()).not.toContain('"level":"error"');
  });
});
