import { fail } from '#lib/errors/fail.ts';

/** More than any page has. Each part costs as much as its headers, which take 0.3 ms for a kilobyte. */
const maxParts = 50;
const maxPartHead = 1024;

/**
 * Counts the parts of a form with uploads (RFC 2046 §5.1.1) and the lengths of their headers, without parsing
 * them. @throws Failure `malformed`.
 */
export function countParts(body: Buffer, type: string): void {
  const boundary = /boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(type);
  const dashed = `--${boundary?.[1] ?? boundary?.[2] ?? ''}`;
  let parts = 0;
  for (let at = body.indexOf(dashed); at !== -1; at = body.indexOf(dashed, at + dashed.length)) {
    parts += 1;
    const head = body.subarray(at, at + dashed.length + maxPartHead);
    const isLast = head.subarray(dashed.length, dashed.length + 2).equals(Buffer.from('--'));
    if (parts > maxParts || !(isLast || head.includes('\r\n\r\n')))
      throw fail(
        'malformed',
        `A form has at most ${maxParts} parts, and their headers ${maxPartHead} bytes.`,
      );
  }
}

/**
 * Fields and files of a form with uploads (RFC 7578), whose parts were counted ({@link countParts}).
 * @param type the Content-Type, with the boundary. @throws Failure `malformed`.
 */
export async function readMultipart(body: Buffer, type: string): Promise<FormData> {
  return new Response(new Uint8Array(body), { headers: { 'Content-Type': type } })
    .formData()
    .catch((cause) => {
      throw fail('malformed', 'The form is not valid multipart/form-data.', { cause });
    });
}
