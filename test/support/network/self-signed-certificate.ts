import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';

/** DER (X.690): a tag, the length, the content. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

const bytes = (hex: string) => Buffer.from(hex, 'hex');
const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, bytes(hex));

/**
 * A certificate (RFC 5280 §4.1) that a test's server shows and its client trusts, as PEM. @param names DNS
 * names it is good for. @param notAfter UTC, `YYYYMMDDhhmmssZ`.
 */
export function selfSignedCertificate(
  names: readonly string[],
  notAfter = '20991231235959Z',
): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const commonName = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(names[0] as string)))));
  const alternativeNames = sequence(...names.map((name) => der(0x82, Buffer.from(name))));
  const body = sequence(
    der(0xa0, der(0x02, bytes('02'))),
    der(0x02, bytes('01')),
    ecdsaWithSha256,
    commonName,
    sequence(der(0x18, Buffer.from('20200101000000Z')), der(0x18, Buffer.from(notAfter))),
    commonName,
    publicKey,
    der(0xa3, sequence(sequence(oid('551d11'), der(0x04, alternativeNames)))),
  );
  const signature = sign('sha256', body, createPrivateKey(privateKey));
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, bytes('00'), signature));
  const lines = certificate.toString('base64').match(/.{1,64}/g) as string[];
  return {
    key: privateKey,
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}
