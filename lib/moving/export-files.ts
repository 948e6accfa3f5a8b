import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '#lib/errors/fail.ts';
import { writeManifest } from '#lib/evidence/manifest.ts';
import { writeLine } from '#lib/evidence/signed-page.ts';

/** How far an export has come. */
export interface Progress {
  /** The instance that is exported. */
  instance: string;
  /** Id of the export, which the signatures of its pages state. */
  id: string;
  /** Bytes of each file that are complete. */
  sizes: Record<string, number>;
  /** Cursor of the next page of checkpoints; empty: the first; null: all are written. */
  checkpoints: string | null;
  /** Heads of the newest checkpoint. */
  heads: Record<string, { size: number; root: string }>;
  /** As `checkpoints`. */
  models: string | null;
  /** Whether the mappings are written. */
  mappings: boolean;
  /** Lines of each log that are written, by area. */
  lines: Record<string, number>;
  /** As `checkpoints`, of the transactions without a line in the log. */
  others: string | null;
  /** Keys that have signed something. */
  kids: string[];
  counts: { receipts: number; missing: number; others: number };
}

/** The files of an export that can be stopped at any time and goes on where it was saved last. */
export interface ExportFiles {
  progress: Progress;
  /** Appends an object to `<name>.ndjson`, in its canonical form (RFC 8785). */
  write(name: string, value: object): Promise<void>;
  /** Stores what was written, and how far the export has come. */
  save(): Promise<void>;
  /** Closes all files, and describes them in the manifest. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

const progressName = 'export.part.json';
/** Text in memory. */
const maxBuffered = 4 * 1024 * 1024;

/**
 * Opens a new folder, or one in which an export was stopped.
 * @throws StartupError for any other folder.
 */
export async function openExportFiles(folder: string, instance: string): Promise<ExportFiles> {
  await mkdir(folder, { recursive: true });
  const progress = await readProgress(folder, instance);
  const handles = new Map<string, FileHandle>();
  const buffered = new Map<string, string[]>();
  let length = 0;

  /** What was written after the latest save is removed. */
  async function openFile(name: string): Promise<FileHandle> {
    const known = handles.get(name);
    if (known) return known;
    const file = path.join(folder, name);
    const size = progress.sizes[name] ?? 0;
    const handle = await open(file, size > 0 ? 'r+' : 'w');
    handles.set(name, handle);
    if ((await handle.stat()).size < size) throw new StartupError(`${file} is shorter than it was written.`);
    await handle.truncate(size);
    return handle;
  }

  async function flush(): Promise<void> {
    for (const [name, texts] of buffered) {
      const handle = await openFile(name);
      const bytes = Buffer.from(texts.join(''));
      const position = progress.sizes[name] ?? 0;
      for (let done = 0; done < bytes.length; )
        done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
      progress.sizes[name] = position + bytes.length;
    }
    buffered.clear();
    length = 0;
  }

  async function close(): Promise<void> {
    for (const handle of handles.values()) await handle.close();
    handles.clear();
  }

  return {
    progress,
    async write(name, value) {
      const text = writeLine(value);
      const texts = buffered.get(`${name}.ndjson`) ?? [];
      buffered.set(`${name}.ndjson`, texts);
      texts.push(text);
      length += text.length;
      if (length > maxBuffered) await flush();
    },
    async save() {
      await flush();
      const file = path.join(folder, progressName);
      await writeFile(`${file}.new`, JSON.stringify(progress));
      await rename(`${file}.new`, file);
    },
    async finish() {
      // A log without a line is a file, too.
      for (const name of [
        'models',
        'access-mappings',
        'records',
        ...Object.keys(progress.heads).map((area) => `audit-${area}`),
      ])
        await openFile(`${name}.ndjson`);
      await close();
      await writeManifest(folder, { without: progressName });
      await rm(path.join(folder, progressName));
    },
    close,
  };
}

async function readProgress(folder: string, instance: string): Promise<Progress> {
  const names = await readdir(folder);
  if (names.length === 0) return newProgress(instance);
  if (!names.includes(progressName)) throw new StartupError(`${folder} is not empty.`);
  const progress = JSON.parse(await readFile(path.join(folder, progressName), 'utf8')) as Progress;
  await rm(path.join(folder, `${progressName}.new`), { force: true });
  if (progress.instance !== instance)
    throw new StartupError(`${folder} has the beginning of an export of ${progress.instance}.`);
  return progress;
}

function newProgress(instance: string): Progress {
  return {
    instance,
    id: randomUUID(),
    sizes: {},
    checkpoints: '',
    heads: {},
    models: '',
    mappings: false,
    lines: {},
    others: '',
    kids: [],
    counts: { receipts: 0, missing: 0, others: 0 },
  };
}
