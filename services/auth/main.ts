import { runService } from '#lib/lifecycle/run-service.ts';
import { authService } from './service.ts';

await runService(authService);
