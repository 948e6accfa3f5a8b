import { runService } from '#lib/lifecycle/run-service.ts';
import { formsService } from './service.ts';

await runService(formsService);
