import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { packChart } from './chart-archive.ts';

// `npm run helm:package [-- --destination folder]`: makes the archive of the chart, and reports its path and
// its SHA-256. The archive of a commit is the same on every machine with the same version of Helm.

const { values } = parseArgs({
  options: { destination: { type: 'string', short: 'd', default: '.' } },
});
const root = path.join(import.meta.dirname, '..', '..');
await mkdir(values.destination, { recursive: true });
const archive = await packChart(root, path.resolve(values.destination));
const digest = createHash('sha256')
  .update(await readFile(archive))
  .digest('hex');

process.stdout.write(`${archive} has the SHA-256 ${digest}\n`);
