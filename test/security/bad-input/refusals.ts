import { expect } from 'vitest';
import { type ParsedPage, parsePage } from '../../support/pages/parse-page.ts';

/** How a client speaks: as a program, or as a browser. */
export type Mode = 'json' | 'html';
export const modes: Mode[] = ['json', 'html'];

/** What a browser in French and a program send with every request. */
export const headersOf: Record<Mode, Record<string, string>> = {
  json: { Accept: 'application/json' },
  html: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'Accept-Language': 'fr' },
};

/** What a program is told: `<status> <code>`, and each fault as `<pointer> <code>`. */
export async function readProblem(response: Response): Promise<{ said: string; faults: string[] }> {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const {
    status,
    type,
    errors = [],
  } = (await response.json()) as {
    status: number;
    type: string;
    errors?: { pointer: string; code: string }[];
  };
  expect(status).toBe(response.status);
  return {
    said: `${status} ${type.split('/').at(-1)}`,
    faults: errors.map(({ pointer, code }) => `${pointer} ${code}`),
  };
}

/**
 * What a person reads: a whole page in their language, with a title, and nothing that only a programmer
 * understands.
 */
export async function readPage(response: Response): Promise<ParsedPage> {
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const page = parsePage(await response.text());
  expect(page.tagged('html')[0]?.attribs.lang).toBe('fr');
  const titles = page.tagged('h1').map((title) => page.text(title).trim());
  expect(titles).toHaveLength(1);
  const words = page.text(page.tagged('main')[0]);
  expect(words).not.toMatch(
    /undefined|null|\[object|error\.|Error:|\bat \/|element\/(processing|preference)/,
  );
  expect(titles[0]).toMatch(/\p{L}{3}/u);
  return page;
}

/** Expects a refusal as the mode has it. @param code of the problem document. */
export async function expectRefusal(
  response: Response,
  mode: Mode,
  [status, code]: [status: number, code: string],
): Promise<void> {
  if (mode === 'json') expect((await readProblem(response)).said).toBe(`${status} ${code}`);
  else {
    expect(response.status).toBe(status);
    await readPage(response);
  }
}
