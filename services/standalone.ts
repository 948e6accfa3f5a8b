import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// All that is loaded from here on is compiled once and kept beside the packages: later starts take half the time. Where nothing
// can be written, nothing is kept.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)));
const { runProcess } = await import('#lib/lifecycle/run-process.ts');
const { startInstance } = await import('./start-instance.ts');

// Everything in one process (decisions.md §12). The last line says that it is ready for work.
await runProcess(async () => {
  const instance = await startInstance(process.env);
  process.stdout.write(`${instance.welcome}\nAccord is ready: ${instance.baseUrl}\n`);
  return instance;
});
