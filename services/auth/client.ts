import { loadSecrets } from '#lib/config/secrets.ts';
import { sql } from '#lib/db/sql.ts';
import { readClientArguments } from './commands/clients.ts';
import { createKeyedHash } from './domain/api-keys.ts';
import { runTool } from './tools/run-tool.ts';

// npm run client -- add <id> --role operator
await runTool(async () => {
  const command = readClientArguments(process.argv.slice(2));
  return async ({ db, secretsFolder }) => {
    const { keyPepper } = await loadSecrets({
      folder: secretsFolder,
      names: ['keyPepper'],
      generate: true,
      // A new pepper would not match hashes in the database.
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
