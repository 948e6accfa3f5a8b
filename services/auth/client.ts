import { loadSecrets } from '#lib/config/secrets.ts';
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
    });
    return command(db, createKeyedHash(keyPepper));
  };
});
