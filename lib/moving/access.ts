import { str, url } from 'envalid';
import { readSettings } from '#lib/config/settings.ts';
import { StartupError } from '#lib/errors/fail.ts';
import type { Access } from '#lib/moving/instance-client.ts';

type Environment = Record<string, string | undefined>;

const text = str({ default: '' });

/** The instance that takes answers over: ACCORD_URL, with a token or as a program. */
export function readTarget(environment: Environment): Access {
  const { ACCORD_URL, ACCORD_TOKEN, ACCORD_CLIENT_ID, ACCORD_CLIENT_SECRET } = readSettings(environment, {
    ACCORD_URL: url(),
    ACCORD_TOKEN: text,
    ACCORD_CLIENT_ID: text,
    ACCORD_CLIENT_SECRET: text,
  });
  if (ACCORD_TOKEN) return { url: ACCORD_URL, headers: async () => bearer(ACCORD_TOKEN) };
  if (!ACCORD_CLIENT_ID) throw new StartupError('ACCORD_TOKEN, or ACCORD_CLIENT_ID, is required.');
  return {
    url: ACCORD_URL,
    headers: signedIn(new URL('/auth', ACCORD_URL), {
      grant_type: 'client_credentials',
      client_id: ACCORD_CLIENT_ID,
      client_secret: ACCORD_CLIENT_SECRET,
    }),
  };
}

/** The instance that answers are read from: with a key, a token, as a program or as a person. */
export function readSource(base: string, environment: Environment): Access {
  if (!URL.canParse(base) || !/^https?:/i.test(base)) throw new StartupError(`--url ${base} is no address.`);
  const settings = readSettings(environment, {
    SOURCE_KEY: text,
    SOURCE_TOKEN: text,
    SOURCE_AUTH_URL: text,
    SOURCE_CLIENT_ID: text,
    SOURCE_CLIENT_SECRET: text,
    SOURCE_USERNAME: text,
    SOURCE_PASSWORD: text,
  });
  const { SOURCE_KEY, SOURCE_TOKEN, SOURCE_AUTH_URL, SOURCE_CLIENT_ID, SOURCE_USERNAME } = settings;
  if (SOURCE_KEY) return { url: base, headers: async () => ({ CM_KEY: SOURCE_KEY }) };
  if (SOURCE_TOKEN) return { url: base, headers: async () => bearer(SOURCE_TOKEN) };
  if (!SOURCE_CLIENT_ID)
    throw new StartupError('SOURCE_KEY, SOURCE_TOKEN or SOURCE_CLIENT_ID is required (docs/moving.md).');
  const client = {
    client_id: SOURCE_CLIENT_ID,
    ...(settings.SOURCE_CLIENT_SECRET && { client_secret: settings.SOURCE_CLIENT_SECRET }),
  };
  const grant: Record<string, string> = SOURCE_USERNAME
    ? { grant_type: 'password', username: SOURCE_USERNAME, password: settings.SOURCE_PASSWORD }
    : { grant_type: 'client_credentials' };
  const address = new URL(SOURCE_AUTH_URL || 'auth', base.endsWith('/') ? base : `${base}/`);
  return { url: base, headers: signedIn(address, { ...client, ...grant }) };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** Signs in when a token is needed, and again when it has expired (OAuth 2.0, RFC 6749 §4.3, §4.4). */
function signedIn(address: URL, fields: Record<string, string>): Access['headers'] {
  let known: string | undefined;
  return async (isExpired) => {
    if (isExpired || known === undefined) known = await signIn(address, fields);
    return bearer(known);
  };
}

async function signIn(address: URL, fields: Record<string, string>): Promise<string> {
  const body = new URLSearchParams(fields);
  const response = await fetch(address, { method: 'POST', body, redirect: 'error' }).catch((cause: Error) => {
    throw new StartupError(`${address.href} does not answer: ${cause.message}`, { cause });
  });
  if (!response.ok)
    throw new StartupError(`The sign-in of ${fields.client_id} was answered with ${response.status}.`);
  return ((await response.json()) as { access_token: string }).access_token;
}
