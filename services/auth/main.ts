import { runService } from '#lib/runtime/run-service.ts';
import { authService } from './service.ts';

await runService(authService);
