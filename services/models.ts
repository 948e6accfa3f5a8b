import { runModels } from '#lib/models/run-models.ts';

// `npm run models -- pull|plan|apply <folder>`: models as files in a folder (docs/consent-as-code.md), at the
// instance ACCORD_URL, with the access token ACCORD_TOKEN of an administrator or author.
process.exitCode = await runModels(process.argv.slice(2), process.env, {
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
});
