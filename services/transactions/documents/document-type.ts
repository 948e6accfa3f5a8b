/** Media types of scans that can be uploaded (openapi.yaml, `uploadDocument`). */
export type DocumentType = 'application/pdf' | 'image/jpeg' | 'image/png';

/** The first bytes of a file of each type: ISO 32000-2 §7.5.2, ITU-T T.81 annex B, W3C PNG §5.2. */
const starts: Readonly<Record<DocumentType, Buffer>> = {
  'application/pdf': Buffer.from('%PDF-'),
  'image/jpeg': Buffer.from([0xff, 0xd8, 0xff]),
  'image/png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
};

/** The type of a file by its first bytes, which alone decide; undefined for all others. */
export function documentTypeOf(body: Buffer): DocumentType | undefined {
  const types = Object.keys(starts) as DocumentType[];
  return types.find((type) => body.subarray(0, starts[type].length).equals(starts[type]));
}
