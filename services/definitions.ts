import type { ServiceDefinition } from '#lib/runtime/service-definition.ts';
import { authService } from './auth/service.ts';
import { formsService } from './forms/service.ts';
import { peersService } from './peers/service.ts';
import { transactionsService } from './transactions/service.ts';
import { webhooksService } from './webhooks/service.ts';

/** Every service, in the order in which they are composed and started in one process; they stop the other way round. */
export const definitions = [
  authService,
  formsService,
  transactionsService,
  peersService,
  webhooksService,
] as ServiceDefinition[];
