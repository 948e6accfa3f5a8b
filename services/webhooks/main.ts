import { runService } from '#lib/runtime/start-service.ts';
import { webhooksService } from './service.ts';

await runService(webhooksService);
