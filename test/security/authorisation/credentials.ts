import { importJWK, SignJWT } from 'jose';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import { type Caller, callerWith, createKey } from '../../support/instances/callers.ts';
import type { TestInstance } from '../../support/instances/instance.ts';

const finerRoles = ['clerk', 'author', 'auditor', 'technician'] as const;

type Role =
  | 'admin'
  | 'operator'
  | 'key'
  | 'decision'
  | 'user'
  | 'transaction'
  | 'choices'
  | (typeof finerRoles)[number];

/** Tokens of one transaction, and of a session of choices of its person. */
export interface Tokens {
  tx: string;
  /** Of use `receipt`: there is none before an answer. */
  receipt: string | undefined;
  choices?: string;
}

/** What a caller shows, and what it is worth by docs/interface.md, "Credentials". */
export interface Credential {
  name: string;
  /** Which of the roles it proves. */
  roles: readonly Role[];
  /** It is worth nothing, and the status says so whatever is asked. */
  refused?: 401 | 403;
  /** What a token in `t` is for. */
  use?: 'tx' | 'receipt' | 'choices' | 'garbled';
  /** Whether it proves to be somebody, whose own things there are. */
  nobody?: true;
  /** The person signed in longer ago than any `x-fresh`. */
  stale?: true;
  headers: Record<string, string>;
}

const garbled = 'eyJhbGciOiJIUzI1NiJ9.e30.x';

/** The token in `t` that a request with this credential has. */
export function tokenFor({ use }: Credential, tokens: Tokens): string | undefined {
  if (use === 'garbled') return garbled;
  return use && tokens[use];
}

/** Every credential that there is: alone, faulty, and two at once. */
export async function makeCredentials(instance: TestInstance): Promise<Credential[]> {
  const [admin, operator, user] = await Promise.all(
    (['admin', 'operator', 'user'] as const).map(
      async (name) => (await signInForLong(instance, name)).headers,
    ),
  );
  const [owner, revoked, peer, asking] = await Promise.all([
    createKey(instance, 'shop'),
    createKey(instance, 'former shop'),
    createKey(instance, 'partner', 'PEER'),
    createKey(instance, 'gateway', 'DECISION'),
  ]);
  await instance.fetch(`/keys/${revoked.id}`, { method: 'DELETE', headers: admin });
  const finer = await Promise.all(
    finerRoles.map(async (role) => {
      const { headers } = await signInForLong(instance, role);
      return { name: `the ${role}`, roles: [role], headers };
    }),
  );
  const key = { CM_KEY: owner.key };
  const bearer = async (claims: object) => ({ Authorization: `Bearer ${await signToken(instance, claims)}` });
  const asAdmin = { sub: 'demo-admin', preferred_username: 'admin', roles: ['admin'] };
  const anHourAgo = () => bearer({ ...asAdmin, auth_time: Math.floor(Date.now() / 1000) - 3_600 });
  const malformed = { Authorization: 'whatever' };
  return [
    { name: 'no credential', roles: [], headers: {} },
    { name: 'a garbage token', roles: [], refused: 401, headers: { Authorization: 'Bearer garbage' } },
    { name: 'a malformed header', roles: [], refused: 401, headers: malformed },
    { name: 'an expired token', roles: [], refused: 401, headers: await bearer({ exp: 60 }) },
    { name: 'a revoked key', roles: [], refused: 401, headers: { CM_KEY: revoked.key } },
    { name: 'a key of scope PEER', roles: [], headers: { 'CM-Key': peer.key } },
    {
      name: 'a revoked key beside an admin',
      roles: [],
      refused: 401,
      headers: { ...admin, CM_KEY: revoked.key },
    },
    {
      name: 'a key in a browser page',
      roles: [],
      refused: 403,
      headers: { ...key, Origin: 'https://shop.example' },
    },
    { name: 'somebody without a role', roles: [], headers: await bearer({ roles: ['guest'] }) },
    {
      name: 'a program in the role of a user',
      roles: ['user'],
      nobody: true,
      headers: await bearer({ preferred_username: undefined }),
    },
    { name: 'a user', roles: ['user'], headers: user as Record<string, string> },
    ...finer,
    {
      name: 'an auditor who is also a user',
      roles: ['auditor', 'user'],
      headers: await bearer({ roles: ['auditor', 'user'] }),
    },
    {
      name: 'a technician beside a garbled token',
      roles: ['technician'],
      use: 'garbled',
      headers: await bearer({ roles: ['technician'] }),
    },
    { name: 'an operator', roles: ['operator', 'user'], headers: operator as Record<string, string> },
    {
      name: 'an operator beside a garbled token',
      roles: ['operator', 'user'],
      use: 'garbled',
      headers: operator as Record<string, string>,
    },
    { name: 'an admin', roles: ['admin', 'operator', 'user'], headers: admin as Record<string, string> },
    {
      name: 'an admin who signed in an hour ago',
      roles: ['admin', 'operator', 'user'],
      stale: true,
      headers: await anHourAgo(),
    },
    {
      name: 'an admin who signed in an hour ago, beside a key',
      roles: ['key', 'admin', 'operator', 'user'],
      stale: true,
      headers: { ...key, ...(await anHourAgo()) },
    },
    {
      name: 'an admin whose token does not tell when',
      roles: ['admin', 'operator', 'user'],
      headers: await bearer({ ...asAdmin, auth_time: undefined }),
    },
    { name: 'a key', roles: ['key'], headers: key },
    { name: 'a key of scope DECISION', roles: ['decision'], headers: { CM_KEY: asking.key } },
    { name: 'a key beside a malformed header', roles: ['key'], headers: { ...key, ...malformed } },
    { name: 'a transaction token', roles: ['transaction'], use: 'tx', headers: {} },
    {
      name: 'a transaction token beside an expired one',
      roles: ['transaction'],
      use: 'tx',
      headers: await bearer({ exp: 60 }),
    },
    { name: 'a receipt token', roles: ['transaction'], use: 'receipt', headers: {} },
    { name: 'a session of choices', roles: ['choices'], use: 'choices', headers: {} },
    { name: 'a garbled transaction token', roles: [], use: 'garbled', headers: {} },
  ];
}

/** Signs an account of the demonstration in for longer than a file of tests takes. */
export async function signInForLong(instance: TestInstance, name: Account): Promise<Caller> {
  // Without `auth_time`: it would grow too old for what asks for a recent sign-in.
  const claims = { sub: `demo-${name}`, preferred_username: name, roles: [name] };
  return callerWith(instance, { Authorization: `Bearer ${await signToken(instance, claims)}` });
}

type Account = 'admin' | 'operator' | 'user' | (typeof finerRoles)[number];

/** An access token as the issuer makes them, but for what is given, which is valid for two hours. */
export async function signToken(instance: TestInstance, changed: object = {}): Promise<string> {
  const [key] = instance.secrets.issuerSigning as [PrivateKey];
  const now = Math.floor(Date.now() / 1000);
  const usual = {
    iss: `${instance.url}/auth`,
    aud: instance.url,
    sub: 'demo-user',
    iat: now,
    exp: now + 7_200,
  };
  return new SignJWT({ ...usual, roles: ['user'], preferred_username: 'user', ...changed })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.kid })
    .sign(await importJWK(key, 'ES256'));
}
