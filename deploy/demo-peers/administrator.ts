import type { Organisation } from './organisations.ts';
import type { DemoInstance } from './start-instance.ts';

/** What an administrator of an instance does, over HTTP as anybody would. */
export interface Administrator {
  /** Makes a model and activates its first version. @returns its key. */
  publish(
    model: { type: string; name: string; data: Record<string, unknown> },
    more?: object,
  ): Promise<string>;
  /** Makes a one-time key with which another instance may pair with this one. */
  makePairingKey(name: string): Promise<string>;
  pair(url: string, apiKey: string): Promise<void>;
  /** Makes a form at an address of its own, for people who confirm their e-mail address. @returns its URL. */
  open(layout: object): Promise<string>;
  /** Makes a transaction as soon as every element in it is known. @returns its URL. */
  ask(subject: string, layoutData: object): Promise<string>;
}

/** Signs in with the demo account. */
export async function signIn({ url }: Pick<DemoInstance, 'url'>): Promise<Administrator> {
  const account = { client_id: 'accord', grant_type: 'password', username: 'admin', password: 'demo' };
  const signedIn = await fetch(`${url}/auth`, { method: 'POST', body: new URLSearchParams(account) });
  const { access_token } = await read<{ access_token: string }>(signedIn);
  return administratorOf(url, access_token);
}

/** @param token access token with the role `admin`. */
export function administratorOf(url: string, token: string): Administrator {
  const call = (method: string, path: string, body: object) =>
    fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const send = async <Answer>(method: string, path: string, body: object) =>
    read<Answer>(await call(method, path, body));

  const publish: Administrator['publish'] = async ({ data, ...model }, more = {}) => {
    const { id, key } = await send<{ id: string; key: string }>('POST', '/models', model);
    const draft = { defaultLanguage: 'en', data };
    const version = await send<{ id: string }>('POST', `/models/${id}/versions`, draft);
    await send('PUT', `/models/${id}/versions/${version.id}/status`, { status: 'ACTIVE' });
    await send('PUT', `/models/${id}`, { name: model.name, ...more });
    return key;
  };

  return {
    publish,
    async open(layout) {
      const content = { type: 'layout', ...layout, public: { identify: 'EMAIL' } };
      const model = { type: 'layout', name: 'After your stay', data: { en: content, fr: content } };
      return `${url}/f/${await publish(model)}`;
    },
    async makePairingKey(name) {
      return (await send<{ key: string }>('POST', '/keys', { name, scope: 'PEER' })).key;
    },
    async pair(peer, apiKey) {
      await send('POST', '/peers', { url: peer, apiKey, withCounterPart: true });
    },
    async ask(subject, layoutData) {
      const until = Date.now() + 30_000;
      for (;;) {
        const answer = await call('POST', '/consents', { subject, layoutData });
        // A new partner's questions come a moment after the pairing.
        if (answer.status !== 422 || Date.now() > until) {
          const { id, token } = await read<{ id: string; token: string }>(answer);
          return `${url}/consents/${id}?t=${token}`;
        }
        await new Promise((again) => setTimeout(again, 200));
      }
    },
  };
}

/** Publishes what an organisation asks. @returns keys. */
export async function publishAll(
  administrator: Administrator,
  { information, question }: Organisation,
): Promise<{ info: string; question: string }> {
  const info = await administrator.publish(
    { type: 'information', name: 'Who asks', data: information },
    { default: true },
  );
  return {
    info,
    question: await administrator.publish({ type: 'processing', ...question }, { shared: true }),
  };
}

async function read<Answer>(response: Response): Promise<Answer> {
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}
