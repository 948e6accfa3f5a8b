import { runService } from '#lib/runtime/run-service.ts';
import { transactionsService } from './service.ts';

await runService(transactionsService);
