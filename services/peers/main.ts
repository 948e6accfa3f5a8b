import { runService } from '#lib/lifecycle/run-service.ts';
import { peersService } from './service.ts';

await runService(peersService);
