import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readAudit } from '../support/instances/audit-reader.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { modelsProgram } from '../support/programs/run-models.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const instance = useInstance();
const author = useSetup(() => signIn(instance, 'author'));
const admin = useSetup(() => signIn(instance, 'admin'));

const { run: models, apply } = modelsProgram(instance, author);

/** The head of a PNG, of which the instance reads the size. */
function png(width: number, more = ''): Buffer {
  const head = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const size = Buffer.alloc(17);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(8, 4);
  return Buffer.concat([head, size, Buffer.from(more)]);
}

const theme = (key: string) => `key: ${key}
type: theme
name: Sand
defaultLanguage: en
common: { name: Sand, css: '', logoPosition: LEFT, logoPath: { file: logo.png } }
texts: { en: { logoAltText: The shop }, fr: { logoAltText: La boutique } }
`;

async function folderOf(key: string, image: Buffer): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(path.join(folder, 'theme'));
  await writeFile(path.join(folder, 'theme', 'sand.yaml'), theme(key));
  await writeFile(path.join(folder, 'theme', 'logo.png'), image);
  return folder;
}

/** The paths of a theme's logo, by language. */
async function logosOf(key: string): Promise<string[]> {
  const entry = (await (await author.get(`/models/serials/${key}`)).json()) as {
    id: string;
    versions: { id: string; status: string }[];
  };
  const active = entry.versions.find(({ status }) => status === 'ACTIVE');
  const version = (await (await author.get(`/models/${entry.id}/versions/${active?.id}`)).json()) as {
    data: Record<string, { logoPath: string }>;
  };
  return Object.values(version.data).map(({ logoPath }) => logoPath);
}
const uploads = async () => (await readAudit(admin.get, 'models', '?action=logo.uploaded')).values.length;

it('an image beside a theme is stored with it, once, and pulled as a file', async () => {
  const image = png(16);
  const folder = await folderOf('images.sand', image);
  const before = await uploads();
  await apply(folder);
  expect(await uploads()).toBe(before + 1);
  const [path1 = '', path2] = await logosOf('images.sand');
  expect(path2).toBe(path1);
  const stored = await instance.fetch(path1);
  expect(stored.headers.get('content-type')).toBe('image/png');
  expect(Buffer.from(await stored.arrayBuffer())).toEqual(image);
  expect(await models('plan', folder)).toMatchObject({ code: 0 });
  await models('pull', folder);
  expect(await readFile(path.join(folder, 'theme', 'sand.yaml'), 'utf8')).toBe(theme('images.sand'));

  await writeFile(path.join(folder, 'theme', 'logo.png'), png(32));
  expect(await apply(folder)).toMatch(/~ theme images\.sand: changed[\s\S]*logoPath/);
  const [path3 = ''] = await logosOf('images.sand');
  expect(path3).not.toBe(path1);

  const pulled = path.join(await temporaryFolder(), 'pulled');
  await models('pull', pulled);
  const name = 'images.sand.logoPath.png';
  expect(await readFile(path.join(pulled, 'theme', name))).toEqual(png(32));
  expect(await readFile(path.join(pulled, 'theme', 'images.sand.yaml'), 'utf8')).toContain(`file: ${name}`);
  expect(await models('plan', pulled)).toMatchObject({ code: 0 });
  expect(await uploads()).toBe(before + 2);
});

it('an image that was uploaded in the console stays at its path', async () => {
  await apply(await folderOf('images.uploaded', png(64)));
  const { id } = (await (await author.get('/models/serials/images.uploaded')).json()) as { id: string };
  const uploaded = await instance.fetch(`/models/${id}/logo`, {
    method: 'PUT',
    headers: { ...author.headers, 'Content-Type': 'image/png' },
    body: Uint8Array.from(png(65)),
  });
  const { logoPath } = (await uploaded.json()) as { logoPath: string };
  const folder = await folderOf('images.uploaded', png(64));
  const file = path.join(folder, 'theme', 'sand.yaml');
  await writeFile(file, theme('images.uploaded').replace('{ file: logo.png }', logoPath));
  await apply(folder);
  await writeFile(file, theme('images.uploaded'));
  await writeFile(path.join(folder, 'theme', 'logo.png'), png(65));
  expect(await models('plan', folder)).toMatchObject({ code: 0 });
  expect(await logosOf('images.uploaded')).toEqual([logoPath, logoPath]);
});

it('what is no image, too large or missing is named by file and line', async () => {
  const folder = await folderOf('images.wrong', Buffer.from('<svg/>'));
  const wrong = await models('plan', folder);
  expect(wrong.code).toBe(1);
  expect(wrong.errors).toMatch(/^theme\/sand\.yaml:5: common\.logoPath must be a PNG, JPEG or WebP/m);
  await writeFile(path.join(folder, 'theme', 'logo.png'), png(16, 'x'.repeat(128 * 1024)));
  expect((await models('plan', folder)).errors).toContain('common.logoPath logo.png has more than 128 KiB');
  await writeFile(
    path.join(folder, 'theme', 'sand.yaml'),
    theme('images.wrong').replace('logo.png', 'no.png'),
  );
  expect((await models('plan', folder)).errors).toContain('common.logoPath no.png cannot be read');
  expect((await author.get('/models/serials/images.wrong')).status).toBe(404);
  expect(await readdir(path.join(folder, 'theme'))).toEqual(['logo.png', 'sand.yaml']);
});

it('only themes take images', async () => {
  const model = {
    key: 'images.letter',
    type: 'processing',
    name: 'Letter',
    defaultLanguage: 'en',
    data: { en: { title: 'Letter', data: 'Name', usage: 'To write', retention: { fullText: 'A year' } } },
    logos: [{ name: 'logo.png', image: png(16).toString('base64') }],
  };
  const planned = await author.send('POST', '/models/plan', { models: [model] });
  expect(await planned.json()).toMatchObject({ faults: [{ pointer: '/models/0/logos' }] });
});
