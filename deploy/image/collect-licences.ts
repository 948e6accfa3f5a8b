import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

// `node deploy/image/collect-licences.ts`: writes the licence of this project and the licences of all
// installed packages to standard output.

interface Package {
  name: string;
  version: string;
  license?: string | { type: string };
}

const isLicence = /^(licen[cs]e|copying|notice|ofl)([._-].*)?$/i;
const rule = '='.repeat(80);

const { packages } = JSON.parse(await readFile('node_modules/.package-lock.json', 'utf8')) as {
  packages: Record<string, unknown>;
};
const parts = [`Accord\n\n${await readFile('LICENSE', 'utf8')}`];
for (const folder of Object.keys(packages).sort()) {
  const described = await describe(folder);
  if (described) parts.push(described);
}
process.stdout.write(`${parts.map((part) => part.trim()).join(`\n\n${rule}\n`)}\n`);

/**
 * @returns name, version and licence of a package, and the texts that it contains; nothing if the package was
 * removed
 */
async function describe(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch((): string[] => []);
  if (!names.includes('package.json')) return undefined;
  const found = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as Package;
  const license = typeof found.license === 'object' ? found.license.type : found.license;
  if (!license) throw new Error(`${folder} does not name its licence`);
  const texts = await Promise.all(
    names.filter((name) => isLicence.test(name)).map((name) => readFile(path.join(folder, name), 'utf8')),
  );
  return [`${found.name} ${found.version}: ${license}`, ...texts.map((text) => text.trim())].join('\n\n');
}
