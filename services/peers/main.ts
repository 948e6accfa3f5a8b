import { runService } from '#lib/runtime/start-service.ts';
import { peersService } from './service.ts';

await runService(peersService);
