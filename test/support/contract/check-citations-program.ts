import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

// Part of `npm run lint`: fails if a file cites a document, a heading or an ADR that the repository does not
// have.
const root = new URL('../../../', import.meta.url).pathname;

/** A citation that leads nowhere, as `path:line: what is missing`. */
type Fault = string;

/** Files that are generated, binary, or never edited once they exist (migrations). */
const ignored = /(\.gen\.ts|package-lock\.json|\.png|migrations\/\w+\.sql)$/;
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
});
const files = listed
  .split('\n')
  .filter((file) => file && !ignored.test(file) && existsSync(join(root, file)));

const headingsOf = new Map<string, Set<string>>();
function readHeadings(file: string): Set<string> {
  const known = headingsOf.get(file);
  if (known) return known;
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  const headings = new Set(lines.flatMap((line) => /^#{1,6} (.+?)\s*$/.exec(line)?.[1] ?? []));
  headingsOf.set(file, headings);
  return headings;
}

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Where a cited path may lead: from the root, from docs/, or from the folder of the file that cites it. */
function findDocument(cited: string, citing: string): string | undefined {
  const places = [cited, join('docs', cited), normalize(join(dirname(citing), cited))];
  return places.find((place) => existsSync(join(root, place)));
}

/** Comments and prose: `docs/federation.md, "Pairing"`, also over a line break of a comment. */
function checkProse(text: string, file: string): Fault[] {
  const cited =
    /(?<![\w/.-])((?:\.{1,2}\/)*[\w./-]*\w\.md)(?![\w'`"])(?:,?\s*(?:(?:\*|\/\/|--|#)\s*)?"([^"\n]+)")?/g;
  return [...text.matchAll(cited)].flatMap((match) => {
    const [, path = '', heading] = match;
    const document = findDocument(path, file);
    const place = `${file}:${lineAt(text, match.index)}`;
    if (!document) return [`${place}: there is no ${path}`];
    if (heading && !readHeadings(document).has(heading))
      return [`${place}: ${document} has no heading "${heading}"`];
    return [];
  });
}

/** Markdown links to files of the repository, with their anchors. */
function checkLinks(text: string, file: string): Fault[] {
  return [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap((match) => {
    const [, path = '', anchor] = match;
    const target = path === '' ? file : normalize(join(dirname(file), path));
    const place = `${file}:${lineAt(text, match.index)}`;
    if (!existsSync(join(root, target))) return [`${place}: there is no ${target}`];
    if (anchor && target.endsWith('.md') && ![...readHeadings(target)].map(anchorOf).includes(anchor))
      return [`${place}: ${target} has no heading for #${anchor}`];
    return [];
  });
}

/** `ADR 12`. */
function checkDecisions(text: string, file: string): Fault[] {
  const numbers = files.flatMap((each) => /^docs\/adr\/(\d{4})-/.exec(each)?.[1] ?? []).map(Number);
  return [...text.matchAll(/\bADR (\d+)\b/g)]
    .filter(([, number]) => !numbers.includes(Number(number)))
    .map((match) => `${file}:${lineAt(text, match.index)}: there is no decision ${match[1]} in docs/adr`);
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

const faults = files.flatMap((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  if (text.includes('\0')) return [];
  const isMarkdown = file.endsWith('.md');
  return [...(isMarkdown ? checkLinks(text, file) : checkProse(text, file)), ...checkDecisions(text, file)];
});
for (const fault of faults) console.error(fault);
if (faults.length > 0) {
  console.error(`${faults.length} citations lead nowhere.`);
  process.exitCode = 1;
}
