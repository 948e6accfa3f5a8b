import type { Scenario } from './scenario.ts';
import { faultyScenarios } from './scenarios/faulty-values.ts';
import { installScenarios } from './scenarios/install.ts';
import { isolationScenarios } from './scenarios/isolation.ts';
import { operationScenarios } from './scenarios/operations.ts';
import { peerScenarios } from './scenarios/peers.ts';
import { faultScenarios, quietScenarios } from './scenarios/under-load.ts';

/** All scenarios, in their order. */
export const scenarios: readonly Scenario[] = [
  ...installScenarios,
  ...isolationScenarios,
  ...faultyScenarios,
  ...quietScenarios,
  ...faultScenarios,
  ...peerScenarios,
  ...operationScenarios,
];
