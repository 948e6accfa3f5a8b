import { describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';

const trusted = 'https://app.example.org';
const instance = useInstance({ CORS_ORIGINS: trusted, EMBED_ORIGINS: 'https://shop.example' });
const operator = useSetup(() => signIn(instance, 'operator'));

const html = { Accept: 'text/html' };

describe('the Content-Security-Policy of a form', () => {
  const ancestorsOf = (response: Response) =>
    /frame-ancestors (.*)$/.exec(response.headers.get('content-security-policy') ?? '')?.[1];

  it('allows only the origin in the context to embed it', async () => {
    const { url } = await createTransaction(operator, { iframeOrigin: 'https://Clinic.example:443/' });
    const form = await instance.fetch(url.replace('?', '/submit?'), { headers: html });
    expect(ancestorsOf(form)).toBe("'self' https://clinic.example");
  });

  it('allows the origins of the instance if the context names none', async () => {
    const { url } = await createTransaction(operator);
    const form = await instance.fetch(url.replace('?', '/submit?'), { headers: html });
    expect(ancestorsOf(form)).toBe("'self' https://shop.example");
  });

  it.each([
    'https://*',
    'https://*.example',
    'https://a.example;sandbox',
    'https://a.example,default-src',
    "https://a'b.example",
    'https://a(b).example',
    'https://a{b.example',
    'https://a!b.example',
    'https://a.example/path',
    'https://user@a.example',
    'null',
    'data:text/html,x',
    'https://a.example https://b.example',
  ])('cannot be changed by an iframeOrigin like %s', async (iframeOrigin) => {
    for (const path of ['/consents', '/consents/preview']) {
      const response = await operator.send('POST', path, {
        subject: 'anna',
        layout: 'layout.001',
        iframeOrigin,
      });
      expect(response.status, path).toBe(422);
    }
  });
});

describe('the headers of a response for browsers and caches', () => {
  it('name Origin and Accept in Vary', async () => {
    const { url } = await createTransaction(operator);
    for (const headers of [{}, { Origin: trusted }, { Origin: 'https://evil.example' }]) {
      const answers = [
        await instance.fetch(url, { headers }),
        await instance.fetch(url, { headers: { ...headers, ...html } }),
        await instance.fetch('/consents/nothing', { headers }),
      ];
      for (const answer of answers)
        expect(answer.headers.get('vary')).toMatch(/Origin.*Accept|Accept.*Origin/);
    }
  });

  it('let pages of every origin read an asset', async () => {
    const script = await instance.fetch('/assets/embed.js', { headers: { Origin: trusted } });
    expect(script.headers.get('access-control-allow-origin')).toBe(trusted);
    expect(script.headers.get('vary')).toContain('Origin');
    const other = await instance.fetch('/assets/embed.js', { headers: { Origin: 'https://evil.example' } });
    expect(other.headers.get('access-control-allow-origin')).toBe('*');
    expect((await instance.fetch('/assets/embed.js')).headers.get('vary')).toContain('Origin');
  });

  it('let foreign origins only read, without credentials', async () => {
    const { url } = await createTransaction(operator);
    const Origin = 'https://evil.example';
    const read = await instance.fetch(url, { headers: { Origin } });
    expect(read.headers.get('access-control-allow-origin')).toBe('*');
    expect(read.headers.get('access-control-allow-credentials')).toBeNull();
    const ask = (path: string, method: string, names: string) =>
      instance.fetch(path, {
        method: 'OPTIONS',
        headers: { Origin, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': names },
      });
    for (const [path, method] of [
      [url, 'POST'],
      ['/records', 'GET'],
      ['/consents', 'POST'],
      ['/auth', 'POST'],
    ] as const)
      expect(
        (await ask(path, method, 'authorization')).headers.get('access-control-allow-origin'),
        path,
      ).toBeNull();
    const allowed =
      (await ask(url, 'GET', 'authorization, cm_key')).headers.get('access-control-allow-headers') ?? '';
    expect(allowed).not.toMatch(/authorization|cm/i);
  });

  it('forbid storing the response and sending the referrer', async () => {
    const { url } = await createTransaction(operator);
    for (const path of [
      url,
      '/consents/nothing',
      '/records?subject=a',
      '/auth/.well-known/openid-configuration',
    ])
      for (const headers of [html, {}]) {
        const answer = await instance.fetch(path, { headers });
        expect(answer.headers.get('cache-control'), path).toBe('no-store');
        expect(answer.headers.get('referrer-policy'), path).toBe('no-referrer');
        expect(answer.headers.get('x-content-type-options'), path).toBe('nosniff');
      }
  });
});
