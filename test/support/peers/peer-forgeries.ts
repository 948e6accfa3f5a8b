import { createHash, createSecretKey } from 'node:crypto';
import { CompactSign, exportSPKI, importJWK, type JWK } from 'jose';
import { generatePrivateKey, publicPart, readPrivateKey } from '#lib/config/secret-values.ts';
import {
  type PeerClaims,
  type PeerRequest,
  type PeerTokenFault,
  signPeerRequest,
} from '../../../services/peers/domain/peer-token.ts';

export const now = new Date('2026-03-01T12:00:00Z');
const seconds = now.getTime() / 1000;
export const hospital = 'https://hospital.example';
export const lab = 'https://lab.example';
const other = 'https://other.example';
const hospitalKey = readPrivateKey(generatePrivateKey());
const otherKey = readPrivateKey(generatePrivateKey());
const stranger = readPrivateKey(generatePrivateKey());
export const pins = new Map([
  [hospitalKey.kid, { peer: hospital, key: publicPart(hospitalKey) }],
  [otherKey.kid, { peer: other, key: publicPart(otherKey) }],
]);
export const request: PeerRequest = {
  method: 'PUT',
  url: `${lab}/federation/submissions/7Yz`,
  body: new TextEncoder().encode('{"leader":"x"}'),
};
export const digest = (body: Uint8Array) => createHash('sha256').update(body).digest('base64url');

export const honest = (at = now) =>
  signPeerRequest(request, {
    issuer: hospital,
    audience: lab,
    key: hospitalKey,
    id: 'J'.repeat(22),
    now: at,
  });

export const claims = (changes: Partial<Record<keyof PeerClaims, unknown>> = {}) => ({
  iss: hospital,
  aud: lab,
  htm: 'PUT',
  htu: request.url,
  bd: digest(request.body),
  jti: 'J'.repeat(22),
  iat: seconds,
  exp: seconds + 60,
  ...changes,
});

export async function forge(payload: unknown, header: object = {}, key: JWK = hospitalKey): Promise<string> {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  return new CompactSign(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'ES256', typ: 'accord-peer+jwt', kid: hospitalKey.kid, ...header })
    .sign(await importJWK(key, 'ES256'));
}

const secretOf = async () => [
  await exportSPKI(
    (await importJWK(publicPart(hospitalKey), 'ES256', { extractable: true })) as Parameters<
      typeof exportSPKI
    >[0],
  ),
  JSON.stringify(publicPart(hospitalKey)),
  hospitalKey.x,
];

async function withSharedSecret(index: number, alg: string): Promise<string> {
  const secret = createSecretKey(Buffer.from(((await secretOf())[index] as string).padEnd(64)));
  return new CompactSign(new TextEncoder().encode(JSON.stringify(claims())))
    .setProtectedHeader({ alg, typ: 'accord-peer+jwt', kid: hospitalKey.kid })
    .sign(secret);
}

const unsigned = (header: object) => {
  const payload = Buffer.from(JSON.stringify(claims())).toString('base64url');
  return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.`;
};
const swap = async (index: number, replace: (part: string) => string) => {
  const parts = (await honest()).split('.');
  return parts.with(index, replace(parts[index] as string)).join('.');
};
const changed = (part: string) => (part.startsWith('A') ? 'B' : 'A') + part.slice(1);

export type Forgery = [name: string, fault: PeerTokenFault, token: () => string | Promise<string>];

const shapes: Forgery[] = [
  ['nothing', 'form', () => ''],
  ['a word', 'form', () => 'Peer'],
  ['two parts', 'form', async () => (await honest()).split('.').slice(0, 2).join('.')],
  ['four parts', 'form', async () => `${await honest()}.x`],
  ['five parts, as of a JWE', 'form', () => 'a.b.c.d.e'],
  ['a header that is no JSON', 'form', () => swap(0, () => 'bm9wZQ')],
  ['a header that is a list', 'form', () => swap(0, () => Buffer.from('[]').toString('base64url'))],
  ['5,000 letters', 'size', () => 'x'.repeat(5_000)],
  ['a payload of 5,000 letters', 'size', () => forge(claims({ jti: 'x'.repeat(5_000) }))],
];

const algorithms: Forgery[] = [
  ['alg none', 'algorithm', () => unsigned({ alg: 'none', typ: 'accord-peer+jwt', kid: hospitalKey.kid })],
  ['alg None', 'algorithm', () => unsigned({ alg: 'None', typ: 'accord-peer+jwt', kid: hospitalKey.kid })],
  ['no alg', 'algorithm', () => unsigned({ typ: 'accord-peer+jwt', kid: hospitalKey.kid })],
  ['no signature', 'signature', () => swap(2, () => '')],
  ['a signature of zeros', 'signature', () => swap(2, () => Buffer.alloc(64).toString('base64url'))],
  ['half a signature', 'signature', () => swap(2, (part) => part.slice(0, 43))],
  ['alg HS256 with the public key in PEM', 'algorithm', () => withSharedSecret(0, 'HS256')],
  ['alg HS256 with the public key as JWK', 'algorithm', () => withSharedSecret(1, 'HS256')],
  ['alg HS256 with a coordinate', 'algorithm', () => withSharedSecret(2, 'HS256')],
  ['alg HS384', 'algorithm', () => withSharedSecret(0, 'HS384')],
  ['alg HS512', 'algorithm', () => withSharedSecret(0, 'HS512')],
  ['alg RS256', 'algorithm', () => unsigned({ alg: 'RS256', typ: 'accord-peer+jwt', kid: hospitalKey.kid })],
  ['alg ES384', 'algorithm', () => unsigned({ alg: 'ES384', typ: 'accord-peer+jwt', kid: hospitalKey.kid })],
  [
    'alg EdDSA over a P-256 key',
    'algorithm',
    () => unsigned({ alg: 'EdDSA', typ: 'accord-peer+jwt', kid: hospitalKey.kid }),
  ],
  [
    'a critical extension',
    'algorithm',
    () => unsigned({ alg: 'ES256', typ: 'accord-peer+jwt', kid: hospitalKey.kid, crit: ['x'], x: 1 }),
  ],
  ...['JWT', 'accord-instance+jwt', 'accord-receipt+jwt', 'at+jwt', undefined, 7].map(
    (typ): Forgery => [`typ ${typ}`, 'algorithm', () => forge(claims(), { typ })],
  ),
];

const keys: Forgery[] = [
  ['a key of nobody', 'unknown-key', () => forge(claims(), { kid: stranger.kid }, stranger)],
  ['no kid', 'unknown-key', () => forge(claims(), { kid: undefined })],
  [
    'a kid that is a list',
    'unknown-key',
    () => unsigned({ alg: 'ES256', typ: 'accord-peer+jwt', kid: [hospitalKey.kid] }),
  ],
  ['a kid out of the prototype', 'unknown-key', () => forge(claims(), { kid: '__proto__' })],
  [
    'a key of its own in the header',
    'signature',
    () => forge(claims(), { jwk: publicPart(stranger) }, stranger),
  ],
  [
    'an address for keys in the header',
    'signature',
    () => forge(claims(), { jku: 'https://evil.example/keys' }, stranger),
  ],
  ['another peer’s key under this one’s kid', 'signature', () => forge(claims(), {}, otherKey)],
  [
    'a changed header',
    'unknown-key',
    () =>
      swap(0, () =>
        Buffer.from(JSON.stringify({ alg: 'ES256', typ: 'accord-peer+jwt' })).toString('base64url'),
      ),
  ],
  [
    'a changed payload',
    'signature',
    () => swap(1, () => Buffer.from(JSON.stringify(claims({ htm: 'GET' }))).toString('base64url')),
  ],
  ['a changed signature', 'signature', () => swap(2, changed)],
];

const names: Forgery[] = [
  ['another paired peer’s name', 'unknown-key', () => forge(claims({ iss: other }))],
  [
    'this peer’s name, by another paired peer',
    'unknown-key',
    () => forge(claims({ iss: hospital }), { kid: otherKey.kid }, otherKey),
  ],
  ['our own name', 'unknown-key', () => forge(claims({ iss: lab }))],
  [
    'a name that only begins like it',
    'unknown-key',
    () => forge(claims({ iss: `${hospital}.evil.example` })),
  ],
  ['its name with a slash', 'unknown-key', () => forge(claims({ iss: `${hospital}/` }))],
  ['its name in capitals', 'unknown-key', () => forge(claims({ iss: hospital.toUpperCase() }))],
  ['another audience', 'audience', () => forge(claims({ aud: other }))],
  ['the audience with a slash', 'audience', () => forge(claims({ aud: `${lab}/` }))],
  ['two audiences', 'claims', () => forge(claims({ aud: [lab, other] }))],
  ['itself as audience', 'audience', () => forge(claims({ aud: hospital }))],
  ['another method', 'method', () => forge(claims({ htm: 'POST' }))],
  ['the method in small letters', 'method', () => forge(claims({ htm: 'put' }))],
  ['another address', 'address', () => forge(claims({ htu: `${lab}/federation/submissions/8Yz` }))],
  ['another host', 'address', () => forge(claims({ htu: request.url.replace(lab, other) }))],
  ['another scheme', 'address', () => forge(claims({ htu: request.url.replace('https', 'http') }))],
  ['an address with a longer end', 'address', () => forge(claims({ htu: `${request.url}/decision` }))],
  ['an address below', 'address', () => forge(claims({ htu: `${lab}/federation/submissions` }))],
  ['another body', 'body', () => forge(claims({ bd: digest(new TextEncoder().encode('{}')) }))],
  ['an empty body', 'body', () => forge(claims({ bd: digest(new Uint8Array()) }))],
  [
    'the digest in hexadecimal',
    'body',
    () => forge(claims({ bd: createHash('sha256').update(request.body).digest('hex') })),
  ],
];

const times: Forgery[] = [
  ['an end 61 s after its start', 'lifetime', () => forge(claims({ exp: seconds + 61 }))],
  ['an end in a year', 'lifetime', () => forge(claims({ exp: seconds + 31_536_000 }))],
  ['an end before its start', 'lifetime', () => forge(claims({ exp: seconds - 1 }))],
  ['a start in the future', 'clock', () => forge(claims({ iat: seconds + 31, exp: seconds + 60 }))],
  ['a start ten minutes ahead', 'clock', () => honest(new Date(now.getTime() + 600_000))],
  ['a start ten minutes ago', 'clock', () => honest(new Date(now.getTime() - 600_000))],
  ['an end that is over', 'clock', () => forge(claims({ iat: seconds - 95, exp: seconds - 35 }))],
];

const contents: Forgery[] = [
  ...(['iss', 'aud', 'htm', 'htu', 'bd', 'jti', 'iat', 'exp'] as const).map(
    (name): Forgery => [`no ${name}`, 'claims', () => forge(claims({ [name]: undefined }))],
  ),
  ['times as texts', 'claims', () => forge(claims({ iat: `${seconds}`, exp: `${seconds + 60}` }))],
  ['times that are no numbers', 'claims', () => forge(claims({ exp: null }))],
  ['times with fractions', 'claims', () => forge(claims({ iat: seconds + 0.5 }))],
  ['an id that is short enough to guess', 'claims', () => forge(claims({ jti: 'a' }))],
  ['an id of 65 letters', 'claims', () => forge(claims({ jti: 'a'.repeat(65) }))],
  ['an id with a NUL', 'claims', () => forge(claims({ jti: `${'a'.repeat(20)}\0` }))],
  ['a payload that is no JSON', 'claims', () => forge('nope')],
  ['a payload that is null', 'claims', () => forge('null')],
  ['a payload that is a list', 'claims', () => forge('[]')],
];

/** Forged tokens, and the reason for which each is rejected. */
export const forgeries: [where: string, Forgery[]][] = [
  ['in its shape', shapes],
  ['in its algorithm', algorithms],
  ['in its key', keys],
  ['in its names', names],
  ['in its times', times],
  ['in its content', contents],
];
