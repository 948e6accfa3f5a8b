import { createHash } from 'node:crypto';
import path from 'node:path';
import {
  EvidenceFault,
  type ReadObject,
  readObjects,
  requireCanonical,
  requireMembers,
} from '#lib/evidence/ndjson.ts';
import { type ExportPart, type PageStatement, pageType } from '#lib/evidence/signed-page.ts';
import type { VerifyJws } from '#lib/evidence/verify-jws.ts';

export const signaturesName = 'signatures.ndjson';

/** The pages that the instance has signed, in the order in which files have their lines. */
export interface SignedPages {
  /**
   * Reads the lines of a file and compares them with the pages of parts of the export, which must follow each
   * other without a gap.
   * @throws EvidenceFault for a line that no page has, or has otherwise.
   */
  cover(file: string, parts: readonly ExportPart[]): AsyncGenerator<ReadObject>;
  /** Verifies the other signatures. @param mayFollow whether there may be any. @throws EvidenceFault. */
  finish(mayFollow: boolean): Promise<void>;
  close(): Promise<void>;
}

/** A signed page, and where it is written. */
interface Page extends PageStatement {
  place: string;
}

const members = ['iss', 'iat', 'export', 'part', 'lines', 'sha256', 'after', 'next'];

function isPageStatement(claims: object): claims is PageStatement {
  const { iat, lines, after, next, ...texts } = claims as Record<keyof PageStatement, unknown>;
  return (
    [iat, lines].every((each) => Number.isSafeInteger(each)) &&
    [after, next].every((each) => each === null || typeof each === 'string') &&
    Object.values(texts).every((each) => typeof each === 'string')
  );
}

/** @param options.instance whose pages they must be. */
export function openPages(
  folder: string,
  { instance, verify }: { instance: string; verify: VerifyJws },
): SignedPages {
  const objects = readObjects(path.join(folder, signaturesName));
  let id: string | undefined;
  let waiting: Page | undefined;

  /** @returns the next page, which stays the next one until it is taken. */
  async function peek(): Promise<Page | undefined> {
    if (waiting) return waiting;
    const { value: read, done } = await objects.next();
    if (done) return undefined;
    waiting = readPage(read);
    id ??= waiting.export;
    if (waiting.export !== id) throw new EvidenceFault(`${read.place}: the page is of another export.`);
    return waiting;
  }

  function readPage(read: ReadObject): Page {
    const { place, value } = read;
    requireMembers(read, ['jws']);
    requireCanonical(read);
    const claims = verify(value.jws, { type: pageType, place });
    requireMembers({ value: claims, text: '', place }, members);
    if (claims.iss !== instance) throw new EvidenceFault(`${place}: the page is of ${claims.iss}.`);
    if (!isPageStatement(claims))
      throw new EvidenceFault(`${place}: a member has another type than it should.`);
    return { ...claims, place };
  }

  /** Pages of receipts may begin and end anywhere: lines of the log name all receipts. */
  async function* pagesOfReceipts(): AsyncGenerator<Page> {
    for (let page = await peek(); page?.part === 'receipts'; page = await peek()) {
      waiting = undefined;
      if (page.lines === 0) throw new EvidenceFault(`${page.place}: the page is empty.`);
      yield page;
    }
  }

  async function* pagesOf(part: ExportPart): AsyncGenerator<Page> {
    for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const page = await peek();
      if (page?.part !== part || page.after !== cursor)
        throw new EvidenceFault(
          `${page?.place ?? signaturesName}: the pages of the ${part} are not there without a gap.`,
        );
      waiting = undefined;
      yield page;
      cursor = page.next;
    }
  }

  return {
    async *cover(file, parts) {
      const lines = readObjects(file);
      const name = path.basename(file);
      try {
        for (const part of parts)
          for await (const page of part === 'receipts' ? pagesOfReceipts() : pagesOf(part)) {
            const hash = createHash('sha256');
            for (let count = 0; count < page.lines; count += 1) {
              const { value: read, done } = await lines.next();
              if (done)
                throw new EvidenceFault(`${name} ends before the page that was signed (${page.place}).`);
              hash.update(`${read.text}\n`);
              yield read;
            }
            if (hash.digest('hex') !== page.sha256)
              throw new EvidenceFault(
                `${name}: the lines are not those of the page that was signed (${page.place}).`,
              );
          }
        const { value: more } = await lines.next();
        if (more) throw new EvidenceFault(`${more.place}: no signed page has this line.`);
      } finally {
        await lines.return(undefined);
      }
    },
    async finish(mayFollow) {
      for (let page = await peek(); page; page = await peek()) {
        if (!mayFollow) throw new EvidenceFault(`${page.place}: the page is of no file.`);
        waiting = undefined;
      }
    },
    async close() {
      await objects.return(undefined);
    },
  };
}
