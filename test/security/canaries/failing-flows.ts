import { callerWith } from '../../support/instances/callers.ts';
import { make, plantContext, type Walk } from './flows.ts';
import { createRecorder, type Seen } from './recorder.ts';

/** Wrong names and passwords, tokens and keys, wherever they are taken. */
export async function showBadCredentials({ instance, recorder, canaries }: Walk): Promise<void> {
  const { plant } = canaries;
  const signIn = (fields: Record<string, string>) =>
    recorder.fetch('/auth', {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'accord', grant_type: 'password', ...fields }),
    });
  await signIn({ username: plant('username'), password: plant('password') });
  await signIn({ username: 'admin', password: plant('password of the admin') });
  await signIn({ client_id: plant('client'), username: 'admin', password: plant('password for a client') });
  await signIn({
    grant_type: 'authorization_code',
    code: plant('secret code'),
    redirect_uri: `http://127.0.0.1/${plant('redirect')}`,
  });
  const query = new URLSearchParams({
    client_id: 'accord',
    response_type: 'code',
    scope: plant('scope'),
    state: plant('state'),
    redirect_uri: `https://${plant('redirect host')}.example/`,
    code_challenge: plant('challenge'),
    code_challenge_method: 'S256',
  });
  for (const Accept of ['text/html', 'application/json'])
    await recorder.fetch(`/auth/authorize?${query}`, { headers: { Accept } });
  const shown: Record<string, string>[] = [
    { Authorization: `Bearer ${plant('token as a bearer')}` },
    { Authorization: `Basic ${Buffer.from(`${plant('token for basic')}:`).toString('base64')}` },
    { Authorization: `Transaction ${plant('token of a transaction')}` },
    { Authorization: plant('token alone') },
    { CM_KEY: plant('key as CM_KEY') },
    { 'CM-Key': `acc_${plant('key as CM-Key')}` },
  ];
  for (const headers of shown)
    for (const Accept of ['application/json', 'text/html'])
      for (const path of ['/user', '/consents/1111111111111111111111', '/models'])
        await callerWith(instance, { ...headers, Accept }).get(path);
  await recorder.fetch(`/consents/1111111111111111111111?t=${plant('token in t')}`);
}

/** Requests that are wrong in every way that there is a problem for. */
export async function makeMistakes(walk: Walk): Promise<void> {
  const { shop, admin, canaries, recorder } = walk;
  const { plant, plantMarkup } = canaries;
  const wrong = { ...plantContext(canaries), layout: plant('unknown layout') };
  const bad = { ...plantContext(canaries), layout: 'layout.001' };
  const fields = [
    'language',
    'origin',
    'validity',
    'callback',
    'iframeOrigin',
    'confirmation',
    'timeout',
    'theme',
  ];
  await shop.send('POST', '/consents', wrong);
  for (const field of fields)
    await shop.send('POST', '/consents', { ...bad, configuration: { [field]: plantMarkup(`bad ${field}`) } });
  await shop.send('POST', '/consents', `{"subject":"${plant('subject in broken JSON')}`);
  await shop.send('POST', '/consents', { subject: { [plant('subject of a wrong type')]: 1 } });
  await shop.send('POST', '/consents', {
    ...bad,
    configuration: { attributes: { x: [plant('attribute of a wrong type')] } },
  });
  await shop.send('POST', '/consents', {
    ...bad,
    configuration: { attributes: { constructor: plant('prototype key') } },
  });
  await shop.send('POST', '/consents', plant('body of another type'), { 'Content-Type': 'text/plain' });
  await shop.get('/models', { Accept: `image/${plant('accept')}` });
  for (const name of ['cursor', 'limit', 'after', 'states'])
    await shop.get(`/transactions?${name}=${plant(`bad ${name}`)}`);
  await recorder.fetch(`/${plant('path')}/${plant('deeper path')}`);
  await recorder.fetch(`/${encodeURIComponent(plantMarkup('path with markup'))}`, {
    headers: { Accept: 'text/html' },
  });
  await recorder.fetch(`/consents/${plant('transaction id')}`, {
    headers: { ...shop.headers, Accept: 'text/html' },
  });
  await recorder.fetch('/system/config', { method: 'PUT', body: plant('body of a wrong method') });
  const quiet = {
    Cookie: `a=${plant('cookie')}`,
    Referer: `https://${plant('referer')}.example/`,
    'User-Agent': plant('user agent'),
  };
  await recorder.fetch('/system/config', {
    headers: { ...quiet, 'X-Forwarded-For': plant('forwarded'), 'X-Request-Id': `<${plant('request id')}>` },
  });
  await admin.send('POST', '/keys', { name: plant('name of no key'), scope: plant('scope of no key') });
  await admin.send('POST', '/models', {
    type: plant('type of no model'),
    name: plant('name of no model'),
    key: plantMarkup('key of no model'),
  });
  await admin.send('POST', '/models/import', {
    key: plant('imported'),
    type: 'theme',
    name: plant('imported name'),
    versions: [{ data: { en: { css: plantMarkup('css') } } }],
  });
  await answerBadly(walk);
}

async function answerBadly(walk: Walk): Promise<void> {
  const { plantMarkup, plant } = walk.canaries;
  const { id, token } = await make(walk);
  const good = {
    'element/processing/processing.001/1.0': 'accepted',
    'element/processing/processing.002/1.0': 'refused',
  };
  const attempts: Record<string, string>[] = [
    { ...good, 'element/processing/processing.001/1.0': plantMarkup('no choice') },
    { ...good, [`element/processing/${plantMarkup('unknown element')}/1.0`]: 'accepted' },
    { ...good, [plant('no identifier')]: plantMarkup('value of no identifier') },
    { ...good, 'element/preference/preference.003/1.0': plant('too long').repeat(200) },
    { ...good, info: `element/information/${plant('another information')}/1.0` },
  ];
  for (const attempt of attempts) {
    const json = JSON.stringify(
      Object.fromEntries(Object.entries(attempt).map(([name, value]) => [name, [value]])),
    );
    const path = `/consents/${id}/submit?t=${token}`;
    await walk.recorder.fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: json,
    });
    await walk.recorder.fetch(path, {
      method: 'POST',
      headers: { Accept: 'text/html' },
      body: new URLSearchParams(attempt),
    });
  }
}

/**
 * Goes through the usual again each time after something was broken.
 * @returns what a client got to see.
 */
export async function meetFailures(
  walk: Walk,
  url: string,
  breakSomething: (() => Promise<void>)[],
): Promise<Seen[]> {
  const { canaries, admin, shop } = walk;
  const open = await make(walk);
  const recorder = createRecorder(url, { strict: false });
  const instance = { url, fetch: recorder.fetch };
  const [manager, server] = [callerWith(instance, admin.headers), callerWith(instance, shop.headers)];
  const answers = {
    'element/processing/processing.001/1.0': ['accepted'],
    'element/processing/processing.002/1.0': ['accepted'],
  };
  for (const breakIt of breakSomething) {
    await breakIt();
    await server.send('POST', '/consents', { ...plantContext(canaries), layout: 'layout.001' });
    await server.send('POST', '/subjects', {
      name: canaries.plant('subject that fails'),
      emailAddress: `${canaries.plant('address that fails')}@mail.example`,
    });
    await manager.send('POST', '/keys', { name: canaries.plant('key name that fails'), scope: 'OWNER' });
    await manager.send('POST', '/models', {
      type: 'theme',
      name: canaries.plant('model that fails'),
      description: canaries.plant('description that fails'),
    });
    await recorder.fetch(`/consents/${open.id}?t=${open.token}`, { headers: { Accept: 'text/html' } });
    const text = {
      'element/preference/preference.003/1.0': [canaries.plantMarkup('free text that fails')],
      comment: canaries.plantMarkup('comment that fails'),
    };
    for (const Accept of ['application/json', 'text/html'])
      await recorder.fetch(`/consents/${open.id}/submit?t=${open.token}`, {
        method: 'POST',
        headers: { Accept, 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...answers, ...text }),
      });
    await recorder.fetch('/auth', {
      method: 'POST',
      body: new URLSearchParams({
        client_id: 'accord',
        grant_type: 'password',
        username: canaries.plant('username that fails'),
        password: canaries.plant('password that fails'),
      }),
    });
    await recorder.fetch(`/subjects/${canaries.plant('subject of a path that fails')}`, {
      headers: { ...admin.headers, Accept: 'text/html' },
    });
  }
  return recorder.seen;
}
