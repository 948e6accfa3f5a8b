import { describe, expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { problemOf } from '../support/instances/live-subject.ts';
import { subscribe, webhookOf } from '../support/instances/webhook-endpoint.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

const fine = {
  name: 'shop',
  targetUrl: 'https://shop.example.org/hook',
  subscribedActions: ['consent.committed'],
};
const make = (content: object) => shop.send('POST', '/webhooks', content);

describe('creating or changing a webhook', () => {
  it.each([
    ['the file scheme', 'file:///etc/passwd'],
    ['a script', 'javascript:alert(1)'],
    ['no scheme', 'shop'],
    ['no characters', ''],
    ['a password', 'https://user:secret@shop.example.org/'],
    ['a private address', 'http://10.1.2.3/hook'],
    ['the metadata address of a cloud', 'http://169.254.169.254/latest/meta-data'],
    ['a private address in another notation', 'http://0x0a010203/'],
    ['IPv4 in IPv6', 'http://[::ffff:10.1.2.3]/'],
    ['a private IPv6 address', 'http://[fd00::1]/'],
    ['more than 2,048 characters', `https://shop.example.org/${'x'.repeat(2_048)}`],
  ])('rejects a URL with %s', async (_name, targetUrl) => {
    const problem = await problemOf(await make({ ...fine, targetUrl }));
    expect(problem).toMatchObject({ said: '422 invalid', errors: [{ pointer: '/targetUrl' }] });
    expect(JSON.stringify(problem)).not.toContain('secret@');
  });

  it('reports every fault at once', async () => {
    const made = await make({
      name: ' ',
      targetUrl: 'x',
      subscribedActions: ['consent.committed', 'anything', ''],
    });
    const { said, errors } = (await problemOf(made)) as { said: string; errors?: { pointer: string }[] };
    expect(said).toBe('422 invalid');
    expect(errors?.map(({ pointer }) => pointer).sort()).toEqual([
      ...['/name', '/subscribedActions/1', '/subscribedActions/2', '/targetUrl'],
    ]);
    expect(await problemOf(await make({ ...fine, subscribedActions: [] }))).toMatchObject({
      said: '422 invalid',
      errors: [{ pointer: '/subscribedActions' }],
    });
  });

  it.each([
    ['no URL', { subscribedActions: ['key.created'] }],
    ['no actions', { targetUrl: fine.targetUrl }],
    ['actions that are not a list', { ...fine, subscribedActions: 'consent.committed' }],
  ])('rejects %s as malformed', async (_name, content) => {
    expect(await problemOf(await make(content))).toMatchObject({ said: '400 malformed' });
  });

  it('accepts every action', async () => {
    const subscribedActions = [
      ...['CONSENT_COMMIT', 'consent.submitted', 'consent.rolledback', 'consent.expiring', 'consent.expired'],
      ...[
        'record.superseded',
        'message.sent',
        'message.failed',
        'model.activated',
        'model.archived',
        'model.deleted',
        'peer.added',
        'peer.removed',
      ],
      ...['peer.submission.delivered', 'peer.submission.accepted', 'peer.submission.refused', 'key.revoked'],
    ];
    const made = await make({ ...fine, subscribedActions });
    expect(made.status).toBe(201);
    expect(await made.json()).toMatchObject({ ...fine, subscribedActions, state: 'ACTIVE' });
    expect(made.headers.get('location')).toMatch(/\/webhooks\/[0-9a-f-]{36}$/);
  });

  it('changes some or all members, and validates them', async () => {
    const webhook = await subscribe(shop, fine.targetUrl);
    const change = (content: object) => shop.send('PUT', `/webhooks/${webhook.id}`, content);
    const changed = await (await change({ name: 'Another' })).json();
    expect(changed).toMatchObject({
      name: 'Another',
      targetUrl: fine.targetUrl,
      subscribedActions: ['key.created'],
    });
    expect(changed).not.toHaveProperty('secret');
    expect(await problemOf(await change({ targetUrl: 'http://192.168.0.1/' }))).toMatchObject({
      said: '422 invalid',
    });
    expect(await problemOf(await change({ subscribedActions: ['x'] }))).toMatchObject({
      said: '422 invalid',
    });
    expect((await change(fine)).status).toBe(200);
    expect(await webhookOf(shop, webhook)).toMatchObject(fine);
  });
});

describe('the list of webhooks', () => {
  it('is an array, newest first, in pages', async () => {
    const made = [];
    for (let count = 0; count < 3; count += 1) made.unshift((await subscribe(shop, fine.targetUrl)).id);
    const first = await shop.get('/webhooks?limit=2');
    const link = /^<([^>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = (await (await shop.get(link)).json()) as { id: string }[];
    const ids = [...((await first.json()) as { id: string }[]), ...second].map(({ id }) => id);
    expect(ids.slice(0, 3)).toEqual(made);
    expect(await problemOf(await shop.get('/webhooks?cursor=x'))).toMatchObject({ said: '400 malformed' });
  });

  it('omits deleted webhooks', async () => {
    const { id } = await subscribe(shop, fine.targetUrl);
    expect((await shop.send('DELETE', `/webhooks/${id}`)).status).toBe(204);
    for (const path of [`/webhooks/${id}`, `/webhooks/${id}/deliveries`, '/webhooks/x'])
      expect(await problemOf(await shop.get(path))).toMatchObject({ said: '404 not-found' });
    expect((await shop.send('DELETE', `/webhooks/${id}`)).status).toBe(404);
  });

  it('is forbidden for the role user', async () => {
    const user = await signIn(instance, 'user');
    expect((await user.get('/webhooks')).status).toBe(403);
    expect((await instance.fetch('/webhooks')).status).toBe(401);
  });
});
