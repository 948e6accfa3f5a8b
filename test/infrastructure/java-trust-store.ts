import { createHash } from 'node:crypto';

const magic = 0xfeedfeed;
const version = 2;
const trustedCertificate = 2;
/** A trust store holds no secret; this is the password that everybody uses. */
const password = 'changeit';

/**
 * A trust store in Java's own format (JKS), because its keytool takes a third of a second for each
 * certificate. @param certificates DER.
 */
export function writeTrustStore(certificates: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt32BE(magic, 0);
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(certificates.length, 8);
  const store = Buffer.concat([header, ...certificates.map(writeEntry)]);
  const salt = Buffer.from(password, 'utf16le').swap16();
  const digest = createHash('sha1').update(salt).update('Mighty Aphrodite').update(store).digest();
  return Buffer.concat([store, digest]);
}

function writeEntry(certificate: Buffer, index: number): Buffer {
  const time = Buffer.alloc(8);
  return Buffer.concat([
    number(trustedCertificate),
    text(`ca-${index}`),
    time,
    text('X.509'),
    number(certificate.length),
    certificate,
  ]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function text(value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([length, Buffer.from(value)]);
}
