import { createSecretFile, readSecretFile } from '#lib/config/secret-files.ts';
import { loadSecrets } from '#lib/config/secrets.ts';
import { generateSharedSecret } from '#lib/config/shared-secret.ts';
import { StartupError } from '#lib/lifecycle/startup-error.ts';
import { definitions } from './definitions.ts';
import { schemas } from './schemas.ts';

// `npm run secrets -- <folder>`: makes what services that run as processes of their own need, for the owner alone (0600). What is there
// stays as it is.
const [folder, ...rest] = process.argv.slice(2);
try {
  if (!folder || rest.length > 0) throw new StartupError('Usage: npm run secrets -- <folder>');
  const services = schemas.map(({ schema }) => schema);
  const callers = definitions.flatMap(({ name, callers }) => [name, ...Object.values(callers).flat()]);
  await loadSecrets({ folder, callers: [...new Set(callers)], generate: true });
  // Of the roles that `npm run migrate` makes, and of the owner who runs it.
  for (const name of ['owner', ...services]) await makePassword(folder, `database-${name}`);
  process.stdout.write(`Every secret is in ${folder}.\n`);
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function makePassword(folder: string, file: string): Promise<void> {
  if (!(await readSecretFile(folder, file))) await createSecretFile(folder, file, generateSharedSecret());
}
