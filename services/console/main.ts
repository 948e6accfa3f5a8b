import { runService } from '#lib/runtime/start-service.ts';
import { consoleService } from './service.ts';

await runService(consoleService);
