import type { Credentials } from '#lib/contracts/auth.ts';
import { resemblesApiKey } from './api-key.ts';

/** Credentials, told apart. */
export interface ReadCredentials {
  /** API keys: of `CM_KEY` or `CM-Key`, and of `Authorization: Basic`. */
  keys: string[];
  /** A bearer token. */
  token?: string;
  /** There is an Authorization header that is neither. */
  malformed: boolean;
}

/** Tells the credentials of a request apart; `Basic` is a key as it is, or as `curl -u <key>:` writes it (docs/interface.md, "Credentials"). */
export function readCredentials({ authorization, apiKey }: Credentials): ReadCredentials {
  const keys = apiKey === undefined ? [] : [apiKey.trim()];
  if (authorization === undefined) return { keys, malformed: false };
  const [, scheme = '', value = ''] = /^(\S+) +(\S+)\s*$/.exec(authorization) ?? [];
  if (/^bearer$/i.test(scheme)) return { keys, token: value, malformed: false };
  const key = /^basic$/i.test(scheme) ? readBasicKey(value) : undefined;
  return key === undefined ? { keys, malformed: true } : { keys: [...keys, key], malformed: false };
}

function readBasicKey(value: string): string | undefined {
  if (resemblesApiKey(value)) return value;
  const [user = '', password = ''] = Buffer.from(value, 'base64').toString().split(':', 2);
  return [user, password].find(resemblesApiKey);
}
