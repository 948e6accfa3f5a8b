import { runService } from '#lib/runtime/start-service.ts';
import { authService } from './service.ts';

await runService(authService);
