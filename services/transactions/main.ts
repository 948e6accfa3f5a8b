import { runService } from '#lib/lifecycle/run-service.ts';
import { transactionsService } from './service.ts';

await runService(transactionsService);
