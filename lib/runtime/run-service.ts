import type { Secrets } from '#lib/config/secrets.ts';
import { runProcess } from '#lib/runtime/run-process.ts';
import type { ServiceDefinition, Specs } from '#lib/runtime/service-definition.ts';
import { startService } from '#lib/runtime/start-service.ts';

/** Runs one service as a process: `node services/<name>/main.ts`. The last line says that it is ready for work, and where. */
export async function runService<S extends Specs, Name extends keyof Secrets>(
  definition: ServiceDefinition<S, Name>,
): Promise<void> {
  await runProcess(async (signal) => {
    const service = await startService(definition, process.env, signal);
    if (service.notice) process.stdout.write(`${service.notice}\n`);
    process.stdout.write(`${service.name} is ready: ${service.url} (internal ${service.internalUrl})\n`);
    return service;
  });
}
