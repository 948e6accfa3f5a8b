import { readFileSync, writeFileSync } from 'node:fs';
import { isMap, isScalar, type Node, type Pair, parseDocument, type YAMLMap } from 'yaml';

// `npm run helm:readme` writes the table of values in helm/README.md from the comments in helm/values.yaml;
// `npm run helm:check` fails if it is not up to date or a value has no description.
const helm = new URL('../../../helm/', import.meta.url);
const [begin, end] = ['<!-- values: npm run helm:readme -->\n', '<!-- end of values -->'];

interface Row {
  path: string;
  standard: string;
  description: string;
}

/** The rows of a map: one for each value, and one for each map that has a comment. */
function rowsOf(map: YAMLMap, prefix: string): Row[] {
  return map.items.flatMap((item, index) => {
    const { key, value } = item as Pair<Node & { value: string }, Node>;
    const path = `${prefix}${key.value}`;
    // The comment of the first value belongs to the map.
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined) ?? '';
    const [description = ''] = comment.split(/\n\s*\n/).slice(-1);
    const row = { path, standard: '', description: description.trim().replaceAll(/\s*\n\s*/g, ' ') };
    if (isMap(value) && value.items.length > 0 && !value.flow && key.value !== 'resources')
      return [...(description ? [row] : []), ...rowsOf(value, `${path}.`)];
    return [{ ...row, standard: JSON.stringify(isScalar(value) ? value.value : value?.toJSON()) }];
  });
}

const document = parseDocument(readFileSync(new URL('values.yaml', helm), 'utf8'));
const rows = rowsOf(document.contents as YAMLMap, '');
const missing = rows.filter(({ description }) => !description);
const table = rows.map(
  ({ path, standard, description }) =>
    `| \`${path}\` | ${standard ? `\`${standard}\`` : ''} | ${description.replaceAll('|', '\\|')} |`,
);
const file = new URL('README.md', helm);
const text = readFileSync(file, 'utf8');
const [before, after] = [text.slice(0, text.indexOf(begin) + begin.length), text.slice(text.indexOf(end))];
const wanted = `${before}\n| Value | Default | |\n|---|---|---|\n${table.join('\n')}\n\n${after}`;

const faults = missing.map(({ path }) => `helm/values.yaml: ${path} has no comment`);
if (!process.argv.includes('--check')) writeFileSync(file, wanted);
else if (text !== wanted)
  faults.push('helm/README.md is not what helm/values.yaml says: npm run helm:readme');
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
