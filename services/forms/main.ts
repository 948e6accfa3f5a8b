import { runService } from '#lib/runtime/run-service.ts';
import { formsService } from './service.ts';

await runService(formsService);
