import { inflateSync } from 'node:zlib';

const compactJws = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** Longer than any receipt that is signed. */
const maxBytes = 2 * 1024 * 1024;
/** Embedded files that are looked at: each may take 20 ms. And the length of the dictionary before each. */
const maxFiles = 3;
const maxDictionary = 4_096;

/**
 * The compact JWS (RFC 7515) among the files that are embedded in a PDF (ISO 32000-2, 7.11.4), such as the
 * signed receipt in the PDF of a receipt. A PDF that another program has written again may have lost it, or
 * hide it in ways that are not looked for. The work is linear in the length of the file.
 */
export function attachedJws(pdf: Buffer): string | undefined {
  const mark = '/EmbeddedFile';
  let at = pdf.indexOf(mark);
  for (let files = 0; at !== -1 && files < maxFiles; files += 1) {
    const content = contentOfStream(pdf, at);
    const text = content && textOf(content);
    if (text) return text;
    at = pdf.indexOf(mark, at + mark.length);
  }
  return undefined;
}

/** The bytes of the stream whose dictionary contains a place. */
function contentOfStream(pdf: Buffer, at: number): Buffer | undefined {
  const head = pdf.subarray(at, at + maxDictionary);
  const found = /(?<!end)stream\r?\n/.exec(head.toString('latin1'));
  if (!found) return undefined;
  const start = at + found.index + found[0].length;
  const end = pdf.indexOf('endstream', start);
  return end === -1 ? undefined : pdf.subarray(start, end);
}

function textOf(content: Buffer): string | undefined {
  const isJws = (bytes: Buffer) =>
    bytes.length <= maxBytes && compactJws.test(bytes.toString('latin1').trim());
  if (isJws(content)) return content.toString('latin1').trim();
  try {
    const inflated = inflateSync(content, { maxOutputLength: maxBytes });
    return isJws(inflated) ? inflated.toString('latin1').trim() : undefined;
  } catch {
    // Another file, or compressed in another way.
    return undefined;
  }
}
