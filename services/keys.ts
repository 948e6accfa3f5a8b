import path from 'node:path';
import { rotateInstanceKeys } from '#lib/config/rotate-instance-keys.ts';
import { StartupError } from '#lib/errors/fail.ts';

// `npm run keys -- rotate [folder]`: replaces the keys with which this instance signs, and to which peers
// encrypt. Peers accept the new signing key because the old one signs it (docs/federation.md).
const [command, given, ...rest] = process.argv.slice(2);
const { SECRETS_DIR, DATA_DIR = './data' } = process.env;
try {
  if (command !== 'rotate' || rest.length > 0)
    throw new StartupError('Usage: npm run keys -- rotate [secrets folder]');
  const folder = path.resolve(given ?? (SECRETS_DIR || path.join(DATA_DIR, 'secrets')));
  const { signing, sealing, dropped } = await rotateInstanceKeys(folder, new Date());
  process.stdout.write(
    [
      `New keys are in ${folder}:`,
      `  instance-signing ${signing}`,
      `  instance-sealing ${sealing}`,
      ...dropped.map((kid) => `  ${kid} was deleted: everything encrypted to it has expired`),
      'Restart the instance; with separate services first all of transactions, then peers.',
      '',
    ].join('\n'),
  );
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
