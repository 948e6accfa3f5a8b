import { runService } from '#lib/runtime/start-service.ts';
import { transactionsService } from './service.ts';

await runService(transactionsService);
