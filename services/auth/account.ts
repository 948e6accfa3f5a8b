import { readAccountArguments } from './commands/accounts.ts';
import { readNewPassword, runTool } from './tools/run-tool.ts';

// npm run account -- add <name> --role admin
await runTool(async () => {
  const { run, needsPassword } = readAccountArguments(process.argv.slice(2));
  const password = needsPassword ? await readNewPassword(process.stdin, process.stdout) : '';
  return ({ db }) => run(db, password);
});
