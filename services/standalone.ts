import { runProcess } from '#lib/runtime/run-process.ts';
import { startInstance } from './start-instance.ts';

// Everything in one process (docs/operations.md, "Settings"). The last line says that it is ready for work.
await runProcess(async () => {
  const instance = await startInstance(process.env);
  process.stdout.write(`${instance.welcome}\nAccord is ready: ${instance.baseUrl}\n`);
  return instance;
});
