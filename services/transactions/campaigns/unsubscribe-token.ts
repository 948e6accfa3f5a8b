import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto';

/** The tokens of the addresses that end campaign messages to a person. They never expire. */
export interface UnsubscribeTokens {
  /** @param reference subjects.id */
  mint(reference: string): string;
  /** @returns the reference; undefined if the token was not made here. */
  read(token: string): string | undefined;
}

const macBytes = 16;

/**
 * A token is the reference and a MAC over it, so that a person who has a link cannot end the messages to
 * others.
 * @param secrets of transaction tokens: the first makes tokens, all recognise them.
 */
export function createUnsubscribeTokens(secrets: readonly Uint8Array[]): UnsubscribeTokens {
  const keys = secrets.map((secret) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'accord unsubscribe', 32))),
  );
  const macsOf = (bytes: Buffer) =>
    keys.map((key) => createHmac('sha256', key).update(bytes).digest().subarray(0, macBytes));
  return {
    mint(reference) {
      const bytes = Buffer.from(reference.replaceAll('-', ''), 'hex');
      return `${bytes.toString('base64url')}.${macsOf(bytes)[0]?.toString('base64url')}`;
    },
    read(token) {
      const [, id = '', mac = ''] = /^([\w-]{22})\.([\w-]{22})$/.exec(token) ?? [];
      const [bytes, given] = [Buffer.from(id, 'base64url'), Buffer.from(mac, 'base64url')];
      const isOurs = given.length === macBytes && macsOf(bytes).some((own) => timingSafeEqual(own, given));
      if (!isOurs) return undefined;
      return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    },
  };
}

export function unsubscribeUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/choices/unsubscribe?t=${token}`;
}
