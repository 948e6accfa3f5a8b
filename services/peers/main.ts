import { runService } from '#lib/runtime/run-service.ts';
import { peersService } from './service.ts';

await runService(peersService);
