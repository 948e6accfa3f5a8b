/**
 * Declares that a PDF conforms to PDF/UA-1 (ISO 14289-1, clauses 5 and 7.1): in its XMP metadata, and by
 * showing its title in place of a file name. The typesetter makes tagged PDF, but its build for
 * WebAssembly has no option for this declaration (ADR 21).
 * @throws Error if the PDF has another structure than the typesetter gives it.
 */
export function markPdfUa(pdf: Uint8Array): Buffer {
  const text = Buffer.from(pdf).toString('latin1');
  const xmp = namespace + identification;
  const edits = [
    editLastMatch(text, /(?<=<rdf:Description rdf:about="" )/g, namespace),
    editLastMatch(text, /(?=<xmpTPg:NPages>)/g, identification),
    editLastMatch(text, /(?<=\/Length )\d+(?=\s+\/Type \/Metadata\s)/g, (length) =>
      String(Number(length) + xmp.length),
    ),
    editLastMatch(text, /(?<=\/ViewerPreferences <<)/g, '\n    /DisplayDocTitle true'),
  ].sort((a, b) => a.at - b.at);
  return Buffer.from(moveReferences(text, edits), 'latin1');
}

const namespace = 'xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/" ';
const identification = '<pdfuaid:part>1</pdfuaid:part>';

interface Edit {
  at: number;
  remove: number;
  insert: string;
}

/** Describes an edit of the last match. Earlier matches may be chance bytes of compressed streams. */
function editLastMatch(text: string, pattern: RegExp, insert: string | ((found: string) => string)): Edit {
  const match = [...text.matchAll(pattern)].at(-1);
  if (!match) throw new Error(`The PDF has no ${pattern}`);
  const [found] = match;
  return {
    at: match.index,
    remove: found.length,
    insert: typeof insert === 'string' ? insert : insert(found),
  };
}

/** Applies edits, and corrects the offsets of objects in the cross-reference table (ISO 32000-1, 7.5.4). */
function moveReferences(text: string, edits: readonly Edit[]): string {
  const moved = (offset: number) =>
    edits.reduce((sum, { at, remove, insert }) => (at < offset ? sum + insert.length - remove : sum), offset);
  const table = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(text)?.[1]);
  if (!text.startsWith('xref', table)) throw new Error('The PDF has no cross-reference table');
  let body = '';
  let from = 0;
  for (const { at, remove, insert } of edits) {
    body += text.slice(from, at) + insert;
    from = at + remove;
  }
  const references = text
    .slice(table)
    .replaceAll(/^(\d{10}) (\d{5}) n/gm, (_, offset, generation) => {
      return `${String(moved(Number(offset))).padStart(10, '0')} ${generation} n`;
    })
    .replace(/(startxref\s+)\d+/, (_, start: string) => start + String(moved(table)));
  return body + text.slice(from, table) + references;
}
