import { copyFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { checkImage } from './check-image.ts';
import { buildImage } from './image.ts';

// `npm run image [-- --output accord.tar]`: builds the container image as a file, checks it, and reports its
// name and size. The size counts the layers that deploy/Dockerfile adds to its base image, because nodes that
// run other images on the same base have its layers already.

const { values } = parseArgs({ options: { output: { type: 'string', short: 'o' } } });
const { archive, name, base } = await buildImage();
if (base === 'stand-in')
  process.stderr.write(
    'The base image cannot be pulled, so a stand-in replaces it. Use this image for tests only.\n',
  );
if (values.output) await copyFile(archive, values.output);
const megabytes = Math.round((await checkImage(archive)) / 1_000_000);
process.stdout.write(
  `${name} is in ${values.output ?? archive}; above the base image it has ${megabytes} MB unpacked\n`,
);
