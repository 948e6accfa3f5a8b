import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { jwtVerify } from 'jose';
import type { ChoicesFrame, ChoicesSession } from '#lib/contracts/principal.ts';
import { createCompactJws } from '#lib/jose/jws.ts';

const type = 'accord-choices+jwt';
const algorithm = 'HS256';

const minuteMs = 60_000;
/** How long a session lives unless a page renews it, and in any case. */
const idleMs = 30 * minuteMs;
const maxMs = 240 * minuteMs;
/** After this time of a session, there is no export: another person may use the device. */
const freshMs = 15 * minuteMs;
/** How long a link is valid that is mailed. */
export const linkMinutes = 30;
/** A link opens once. A click that is repeated within this time is the same success. */
export const repeatMs = minuteMs;

/** A link to the choices of a person, as its token names it. */
export interface ChoicesLink {
  use: 'choices-link';
  /** Id of the link. */
  id: string;
  expiresAt: Date;
}

/** A session as its token says; whether the person has ended it, the database knows. */
export interface WrittenSession extends ChoicesSession {
  use: 'choices';
  expiresAt: Date;
}

/** Mints and reads the tokens of links to choices and of sessions. */
export interface ChoicesTokens {
  mintLink(link: Omit<ChoicesLink, 'use'>): string;
  /** @param expiresAt {@link sessionExpiry} */
  mintSession(session: ChoicesSession, expiresAt: Date): string;
  /** @returns undefined for a text that is no token of this instance. The caller compares the expiry. */
  read(token: string): Promise<ChoicesLink | WrittenSession | undefined>;
}

/** When a session ends that a page renews now. */
export function sessionExpiry({ startedAt }: Pick<ChoicesSession, 'startedAt'>, now: Date): Date {
  return new Date(Math.min(now.getTime() + idleMs, startedAt.getTime() + maxMs));
}

/** Whether a session has begun so recently that it shows everything at once. */
export function isFresh({ startedAt }: Pick<ChoicesSession, 'startedAt'>, now: Date): boolean {
  return now.getTime() - startedAt.getTime() <= freshMs;
}

/**
 * @param secrets of transaction tokens, from which keys are derived: the first signs, all verify.
 * @param baseUrl issuer and audience.
 */
export function createChoicesTokens(secrets: readonly Uint8Array[], baseUrl: string): ChoicesTokens {
  const keys = secrets.map((secret) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'accord choices', 32))),
  );
  const [signing] = keys;
  if (!signing) throw new Error('tokens of choices need a secret');
  const write = createCompactJws({ alg: algorithm, typ: type }, (input) =>
    createHmac('sha256', signing).update(input).digest(),
  );
  const mint = (claims: object, expiresAt: Date) => {
    const exp = Math.ceil(expiresAt.getTime() / 1000);
    return write(JSON.stringify({ ...claims, iss: baseUrl, aud: baseUrl, exp }));
  };
  return {
    mintLink: ({ id, expiresAt }) => mint({ use: 'choices-link', jti: id }, expiresAt),
    mintSession: ({ person, epoch, startedAt, address, frame }, expiresAt) =>
      mint(
        { use: 'choices', sub: person, ep: epoch, st: startedAt.getTime(), ad: address, frame },
        expiresAt,
      ),
    async read(token) {
      for (const key of keys) {
        const read = await readToken(token, key, baseUrl).catch(() => undefined);
        if (read) return read;
      }
      return undefined;
    },
  };
}

interface WrittenClaims {
  use: string;
  sub: string;
  jti: string;
  ep: number;
  st: number;
  ad: string;
  frame: ChoicesFrame;
}

/** Verifies a token except for its expiry. Throws or returns undefined for an invalid one. */
async function readToken(
  token: string,
  key: KeyObject,
  baseUrl: string,
): Promise<ChoicesLink | WrittenSession | undefined> {
  const { payload } = await jwtVerify(token, key, {
    algorithms: [algorithm],
    typ: type,
    issuer: baseUrl,
    audience: baseUrl,
    requiredClaims: ['exp'],
    clockTolerance: Number.MAX_SAFE_INTEGER,
  });
  const { use, sub, jti, ep, st, ad, frame, exp = 0 } = payload as Partial<WrittenClaims> & { exp?: number };
  const expiresAt = new Date(exp * 1000);
  if (use === 'choices-link' && jti !== undefined) return { use, id: jti, expiresAt };
  if (use !== 'choices' || sub === undefined || ep === undefined || st === undefined) return undefined;
  const session = { use, person: sub, epoch: ep, startedAt: new Date(st), expiresAt } as const;
  return { ...session, ...(ad !== undefined && { address: ad }), ...(frame && { frame }) };
}
