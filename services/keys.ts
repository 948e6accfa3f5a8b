import path from 'node:path';
import { rotateInstanceKeys } from '#lib/config/rotate-instance-keys.ts';
import { StartupError } from '#lib/errors/startup-error.ts';

// `npm run keys -- rotate [folder]`: new keys with which this instance signs, and to which peers seal. Peers follow by themselves, because the
// old signing key vouches for the new one (docs/federation.md, "New keys").
const [command, given, ...rest] = process.argv.slice(2);
const { SECRETS_DIR, DATA_DIR = './data' } = process.env;
try {
  if (command !== 'rotate' || rest.length > 0)
    throw new StartupError('Usage: npm run keys -- rotate [folder of the secrets]');
  const folder = path.resolve(given ?? (SECRETS_DIR || path.join(DATA_DIR, 'secrets')));
  const { signing, sealing, dropped } = await rotateInstanceKeys(folder, new Date());
  process.stdout.write(
    [
      `New keys are in ${folder}:`,
      `  instance-signing ${signing}`,
      `  instance-sealing ${sealing}`,
      ...dropped.map((kid) => `  ${kid} is gone: nothing sealed to it can be on its way any more`),
      'Restart the instance; of separate services all of transactions first, then peers.',
      '',
    ].join('\n'),
  );
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
