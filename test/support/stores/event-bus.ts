import { readEventContract } from '#lib/events/event-contract.ts';
import { createInProcessBus } from '#lib/events/in-process-bus.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** The contract that every event in tests is held against, when it is written and when it is read. */
export const eventContract = readEventContract(new URL('../../../asyncapi.yaml', import.meta.url));

/** A bus within the test; an event that breaks the contract never arrives. */
export function createTestBus(log: Logger) {
  return createInProcessBus({ contract: eventContract, log });
}
