import { StartupError } from '#lib/errors/fail.ts';

const reasons: Record<string, string> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'it lies on a file system that is mounted read-only',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'there is a file of this name',
  ENAMETOOLONG: 'its path is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: "this user's disk quota is used up",
  ENOENT: 'a part of its path leads nowhere',
  ELOOP: 'its symbolic links go round in a circle',
};

/** One sentence for a fault of the file system at start. */
export function explainFileError(error: unknown, folder: string): StartupError {
  if (error instanceof StartupError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = (code && reasons[code]) ?? message;
  return new StartupError(`The data folder ${folder} (DATA_DIR) cannot be used: ${reason}.`, {
    cause: error,
  });
}

/** One sentence for what a program of PostgreSQL said on standard error before it gave up. */
export function explainOutput(output: string, folder: string): StartupError {
  if (/No space left on device/.test(output)) return explainFileError({ code: 'ENOSPC' }, folder);
  if (/Disk quota exceeded/.test(output)) return explainFileError({ code: 'EDQUOT' }, folder);
  const unknownUser = /could not look up effective user ID (\d+)/.exec(output)?.[1];
  if (unknownUser)
    return new StartupError(
      `PostgreSQL cannot run as uid ${unknownUser}, of which this system knows no name: start Accord as a user that it ` +
        'knows, or set DATABASE_URL to use a PostgreSQL of your own.',
    );
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const fault = lines.findLast((line) => /(FATAL|PANIC|ERROR|error):/.test(line));
  const said = fault?.replace(/^.*?(FATAL|PANIC|ERROR|error):\s*/, '') ?? lines.join(' ');
  const reason = said.slice(0, 500).replace(/\.$/, '') || 'it gives no reason';
  return new StartupError(`PostgreSQL cannot run on the data in ${folder} (DATA_DIR): ${reason}.`);
}
