import { runService } from '#lib/runtime/start-service.ts';
import { formsService } from './service.ts';

await runService(formsService);
