import { loadSecrets } from '#lib/config/secrets.ts';
import { sql } from '#lib/db/sql.ts';
import { createKeyedHash } from './domain/keyed-hash.ts';
import { readClientArguments } from './tools/client-arguments.ts';
import { runTool } from './tools/run-tool.ts';

// npm run client -- add <id> --role operator
await runTool(async () => {
  const command = readClientArguments(process.argv.slice(2));
  return async ({ db, secretsFolder }) => {
    const { keyPepper } = await loadSecrets({
      folder: secretsFolder,
      names: ['keyPepper'],
      generate: true,
      // Hashes in the database were made with the pepper: a new one would not fit them.
      isDatabaseUsed: async () =>
        (
          await db.query(
            sql`SELECT FROM api_keys UNION ALL SELECT FROM clients WHERE secret_hash IS NOT NULL LIMIT 1`,
          )
        ).length > 0,
    });
    return command(db, createKeyedHash(keyPepper));
  };
});
