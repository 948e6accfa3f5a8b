import { str, url } from 'envalid';
import { readSettings } from '#lib/config/settings.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { exportFolder } from '#lib/evidence/export-folder.ts';

// `npm run export -- <folder>`: writes the audit logs, their checkpoints, the receipts and the public keys of
// the instance ACCORD_URL into a new folder, with the access token ACCORD_TOKEN of an administrator
// (docs/evidence.md, "Export").
try {
  const [folder, ...rest] = process.argv.slice(2);
  if (folder === undefined || rest.length > 0) throw new StartupError('Usage: npm run export -- <folder>');
  const { ACCORD_URL, ACCORD_TOKEN } = readSettings(process.env, { ACCORD_URL: url(), ACCORD_TOKEN: str() });
  const { lines, receipts, missing } = await exportFolder({ url: ACCORD_URL, token: ACCORD_TOKEN, folder });
  process.stdout.write(`${folder} has ${lines} lines and ${receipts} receipts.\n`);
  if (missing > 0)
    process.stderr.write(
      `${missing} logged receipts are missing and were not erased; verify names the first.\n`,
    );
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
