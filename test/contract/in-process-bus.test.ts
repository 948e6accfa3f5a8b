import { createLogger } from '#lib/observability/logger.ts';
import { createTestBus } from '../support/stores/event-bus.ts';
import { describeEventBus } from '../support/stores/event-bus-suite.ts';

const log = createLogger({ level: 'silent' });
describeEventBus('within one process', () => createTestBus(log));
