import { runService } from '#lib/lifecycle/run-service.ts';
import { webhooksService } from './service.ts';

await runService(webhooksService);
