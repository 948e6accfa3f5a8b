import { readFileSync } from 'node:fs';

const read = (name: string) => readFileSync(new URL(`../../deploy/${name}`, import.meta.url), 'utf8');

/**
 * What the image gives Node.js when it starts a program (deploy/entrypoint.sh), for whoever starts one as the
 * image does.
 */
export const imageOptions: readonly string[] = [
  ...(/ exec node((?: --\S+)+) /.exec(read('entrypoint.sh'))?.[1] ?? '').matchAll(/--\S+/g),
].map(([option]) => option);

/** What the image puts into the environment of every program (deploy/Dockerfile) that concerns its memory. */
export const imageMemory: Readonly<Record<string, string>> = Object.fromEntries(
  [...read('Dockerfile').matchAll(/^ENV (MALLOC_\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]),
);
