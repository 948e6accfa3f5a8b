import { readFileSync } from 'node:fs';
import { isMap, type Node, type Pair, parseDocument, type YAMLMap } from 'yaml';

// `npm run lint` fails if a value of helm/values.yaml, the reference of the chart, has no description.

/** The paths of a map that have no comment: of single values, and of maps as a whole. */
function undescribedIn(map: YAMLMap, prefix: string): string[] {
  return map.items.flatMap((item, index) => {
    const { key, value } = item as Pair<Node & { value: string }, Node>;
    const path = `${prefix}${key.value}`;
    if (isMap(value) && value.items.length > 0 && !value.flow && key.value !== 'resources')
      return undescribedIn(value, `${path}.`);
    // The comment of the first value belongs to the map.
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined);
    return comment?.trim() ? [] : [path];
  });
}

const values = readFileSync(new URL('../../../helm/values.yaml', import.meta.url), 'utf8');
for (const path of undescribedIn(parseDocument(values).contents as YAMLMap, '')) {
  process.stderr.write(`helm/values.yaml: ${path} has no comment\n`);
  process.exitCode = 1;
}
