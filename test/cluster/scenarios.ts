import type { Scenario } from './scenario.ts';
import { kafkaScenarios } from './scenarios/another-kafka.ts';
import { certificateScenarios } from './scenarios/certificates.ts';
import { consoleScenarios } from './scenarios/console.ts';
import { faultyScenarios } from './scenarios/faulty-values.ts';
import { figureScenarios } from './scenarios/figures.ts';
import { gatewayScenarios } from './scenarios/gateway.ts';
import { installScenarios } from './scenarios/install.ts';
import { isolationScenarios } from './scenarios/isolation.ts';
import { operationScenarios } from './scenarios/operations.ts';
import { peerScenarios } from './scenarios/peers.ts';
import { restoreScenarios } from './scenarios/restore.ts';
import { faultScenarios, quietScenarios } from './scenarios/under-load.ts';

/**
 * All scenarios, in their order. Those with faulty values need the schema of before the upgrade. Those at the
 * end replace data and certificates.
 */
export const scenarios: readonly Scenario[] = [
  ...installScenarios,
  ...isolationScenarios,
  ...consoleScenarios,
  ...figureScenarios,
  ...faultyScenarios,
  ...quietScenarios,
  ...faultScenarios,
  ...gatewayScenarios,
  ...kafkaScenarios,
  ...peerScenarios,
  ...operationScenarios,
  ...restoreScenarios,
  ...certificateScenarios,
];
