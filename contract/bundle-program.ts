import { readFileSync, writeFileSync } from 'node:fs';
import { bundleContract } from './bundle.ts';

// `npm run contract:bundle` writes openapi.yaml from its pieces, `npm run lint` fails if it is not
// what they give.
const file = new URL('../openapi.yaml', import.meta.url);
const text = await bundleContract(new URL('./', import.meta.url));
if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  process.stderr.write(
    'openapi.yaml is not what contract/ gives; change the pieces: npm run contract:bundle\n',
  );
  process.exitCode = 1;
}
