import { runService } from '#lib/runtime/run-service.ts';
import { webhooksService } from './service.ts';

await runService(webhooksService);
