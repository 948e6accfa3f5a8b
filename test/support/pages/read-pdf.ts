import { getDocumentProxy, getResolvedPDFJS } from 'unpdf';

/** A structure element of a tagged PDF: its role, its text alternative, its children. */
export interface StructureElement {
  role: string;
  alt?: string;
  lang?: string;
  children: StructureElement[];
}

/** What a reader of a PDF gets from it. */
export interface ReadPdf {
  pages: number;
  /** In the order of the content, a line for each line of the page. */
  text: string;
  /** The pieces of text of each page, with the distances of their left and right ends from the left edge. */
  pieces: { text: string; left: number; right: number; line: number; page: number }[];
  title: string;
  language: string | null;
  /** The metadata (XMP) as XML. */
  metadata: string;
  structure: StructureElement[];
  /** Bookmarks, with those below them indented. */
  bookmarks: string[];
  attachments: Record<string, string>;
  links: string[];
}

/** Reads a PDF back, as a PDF viewer does. */
export async function readPdf(pdf: Uint8Array): Promise<ReadPdf> {
  const document = await getDocumentProxy(Uint8Array.from(pdf));
  const { info, metadata } = await document.getMetadata();
  const numbers = Array.from({ length: document.numPages }, (_, index) => index + 1);
  const pages = await Promise.all(numbers.map((number) => document.getPage(number)));
  const texts = await Promise.all(pages.map((page) => page.getTextContent({ disableNormalization: true })));
  const annotations = (await Promise.all(pages.map((page) => page.getAnnotations()))).flat();
  const trees = await Promise.all(pages.map((page) => page.getStructTree()));
  const read: ReadPdf = {
    pages: document.numPages,
    text: texts
      .flatMap(({ items }) => items)
      .map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''))
      .join(''),
    pieces: texts.flatMap(({ items }, page) =>
      items.flatMap((item) => ('str' in item ? [{ ...placeOf(item), page: page + 1 }] : [])),
    ),
    title: (info as { Title?: string }).Title ?? '',
    language: (info as { Language?: string }).Language ?? null,
    metadata: String(metadata?.getRaw() ?? ''),
    structure: trees.map((tree) => structureOf(tree as PdfNode)),
    bookmarks: bookmarksOf(await document.getOutline()),
    attachments: await attachmentsOf(document),
    links: annotations.map(({ url }: { url?: string }) => url).filter((url) => url !== undefined),
  };
  await document.loadingTask.destroy();
  return read;
}

function placeOf({ str, width, transform }: { str: string; width: number; transform: number[] }) {
  const [, , , , left = 0, line = 0] = transform;
  return { text: str, left, right: left + width, line };
}

/** The colours that a PDF fills with, as `#rrggbb`. */
export async function coloursOf(pdf: Uint8Array): Promise<Set<string>> {
  const [document, { OPS }] = [await getDocumentProxy(Uint8Array.from(pdf)), await getResolvedPDFJS()];
  const colours = new Set<string>();
  for (let number = 1; number <= document.numPages; number += 1) {
    const { fnArray, argsArray } = await (await document.getPage(number)).getOperatorList();
    for (const [index, name] of fnArray.entries())
      if (name === OPS.setFillRGBColor) colours.add(String(argsArray[index]));
  }
  await document.loadingTask.destroy();
  return colours;
}

/** Lines from right to left, as a reader of Arabic sees them. */
export function arabicLines({ pieces }: ReadPdf): string[] {
  const lines = Map.groupBy(pieces, ({ page, line }) => `${page} ${Math.round(line)}`);
  return [...lines.values()].map((line) =>
    line
      .toSorted((a, b) => b.right - a.right)
      .map(({ text }) => text)
      .join(''),
  );
}

async function attachmentsOf(
  document: Awaited<ReturnType<typeof getDocumentProxy>>,
): Promise<Record<string, string>> {
  const attachments: Record<string, string> = {};
  for (const [id, { filename }] of (await document.getAttachments()) ?? []) {
    const content = (await document.getAttachmentContent(id)) as Uint8Array;
    attachments[filename] = Buffer.from(content).toString('utf8');
  }
  return attachments;
}

interface PdfNode {
  role?: string;
  alt?: string;
  lang?: string;
  children?: PdfNode[];
}

function structureOf({ role = '', alt, lang, children = [] }: PdfNode): StructureElement {
  return { role, alt, lang, children: children.map(structureOf) };
}

interface Bookmark {
  title: string;
  items: Bookmark[];
}

function bookmarksOf(items: Bookmark[] | null, level = 0): string[] {
  return (items ?? []).flatMap(({ title, items: below }) => [
    `${'  '.repeat(level)}${title}`,
    ...bookmarksOf(below, level + 1),
  ]);
}

/** All elements of structure trees, in reading order. */
export function elementsOf(elements: readonly StructureElement[]): StructureElement[] {
  return elements.flatMap((element) => [element, ...elementsOf(element.children)]);
}
