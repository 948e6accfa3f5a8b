import { readClusterAccess } from '#lib/config/cluster-access.ts';
import { fillClusterSecret } from '#lib/config/cluster-secret.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { generateMissing } from './generate-secrets.ts';

// `accord cluster-secrets <name>` in a pod of Kubernetes: creates the Secret of this name with the secrets
// that the services read, or adds the missing entries. Existing entries stay unchanged. The Job of the chart
// runs it before each installation and upgrade.
const [name, ...rest] = process.argv.slice(2);
try {
  if (!name || rest.length > 0) throw new StartupError('Usage: accord cluster-secrets <name of the Secret>');
  const access = await readClusterAccess(process.env);
  const added = await fillClusterSecret({ access, name, complete: generateMissing });
  process.stdout.write(
    added.length > 0
      ? `Added to the Secret ${name}: ${added.join(', ')}.\n`
      : `The Secret ${name} is complete.\n`,
  );
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
