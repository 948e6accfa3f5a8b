import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { analyse } from 'scslre';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { readContract } from '../support/contract/contract.ts';

const root = path.join(import.meta.dirname, '../..');

/** The product's own code; what pages load runs in browsers. */
const files = ['lib', 'services']
  .flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      path.join(folder, name),
    ),
  )
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.gen.ts') && !name.includes('/assets/'));

interface Pattern {
  place: string;
  source: string;
  flags: string;
}

/** Patterns that may take more than linear time, and why that does no harm. */
const harmless: Readonly<Record<string, string>> = {
  '/^([a-z][a-z\\d+.-]*:\\/*)?.*@/is': 'a setting, which only the operator writes',
  '/[?#].+$/s': 'a setting, which only the operator writes',
};

/** Calls of `RegExp` whose pattern is put together, and why it is linear. */
const assembled: Readonly<Record<string, string>> = {
  'lib/moving/local-time.ts': 'escaped text and numbers of bounded length, from a file of the operator',
  'services/console/rooms/elements/theme-css.ts': 'the name of a property, which is a constant',
  'services/forms/pdf/printable-text.ts': 'one class with a lower bound that is a constant',
};

function patternsIn(name: string): { patterns: Pattern[]; calls: string[] } {
  const source = ts.createSourceFile(
    name,
    readFileSync(path.join(root, name), 'utf8'),
    ts.ScriptTarget.Latest,
  );
  const patterns: Pattern[] = [];
  const calls: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      patterns.push({ place: name, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    }
    const isCall = ts.isNewExpression(node) || ts.isCallExpression(node);
    if (isCall && ts.isIdentifier(node.expression) && node.expression.text === 'RegExp') calls.push(name);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { patterns, calls };
}

/** The patterns of the contract, which the validator runs. */
function patternsOfContract(value: unknown): Pattern[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'pattern' && typeof member === 'string'
      ? [{ place: 'openapi.yaml', source: member, flags: 'u' }]
      : patternsOfContract(member),
  );
}

const isLinear = ({ source, flags }: Pattern) =>
  analyse({ source, flags }, { maxReports: 1 }).reports.length === 0;
const found = files.map(patternsIn);

describe('a pattern', () => {
  it('of the product or the contract takes linear time for every text', () => {
    const patterns = [...found.flatMap((each) => each.patterns), ...patternsOfContract(readContract())];
    expect(patterns.length).toBeGreaterThan(200);
    const costly = patterns
      .filter(
        (pattern) => !Object.hasOwn(harmless, `/${pattern.source}/${pattern.flags}`) && !isLinear(pattern),
      )
      .map(({ place, source, flags }) => `${place}: /${source}/${flags}`);
    expect(costly).toEqual([]);
  });

  it('is not put together from texts', () => {
    const places = new Set(found.flatMap(({ calls }) => calls));
    expect([...places].filter((place) => !Object.hasOwn(assembled, place))).toEqual([]);
  });

  it.each(['\\s*a([^;]*?)\\s*(;|$)', ' *, *', '(a|b)*b*c', '^(a+)+$'])(
    'such as /%s/ would be found',
    (source) => {
      expect(isLinear({ place: '', source, flags: '' })).toBe(false);
    },
  );
});
