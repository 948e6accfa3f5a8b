import { runProcess } from '#lib/runtime/run-process.ts';
import { startInstance } from './start-instance.ts';

// `npm start`: all services in one process (docs/operations.md, "Settings"). Its last output line reports
// readiness.
await runProcess(async () => {
  const instance = await startInstance(process.env);
  process.stdout.write(`${instance.welcome}\nAccord is ready: ${instance.baseUrl}\n`);
  return instance;
});
