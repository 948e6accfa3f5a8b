import { createLogger } from '#lib/observability/logger.ts';
import { createTestBus } from '../support/event-bus.ts';
import { describeEventBus } from '../support/event-bus-suite.ts';

const log = createLogger({ level: 'silent' });
describeEventBus('within one process', () => createTestBus(log));
