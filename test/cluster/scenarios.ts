import type { Scenario } from './scenario.ts';
import { kafkaScenarios } from './scenarios/another-kafka.ts';
import { certificateScenarios } from './scenarios/certificates.ts';
import { consoleScenarios } from './scenarios/console.ts';
import { faultyScenarios } from './scenarios/faulty-values.ts';
import { figureScenarios } from './scenarios/figures.ts';
import { firstConsentScenarios } from './scenarios/first-consent.ts';
import { firstInstallScenarios } from './scenarios/first-install.ts';
import { gatewayScenarios } from './scenarios/gateway.ts';
import { helm3Scenarios } from './scenarios/helm-3.ts';
import { installScenarios } from './scenarios/install.ts';
import { isolationScenarios } from './scenarios/isolation.ts';
import { messageCredentialScenarios } from './scenarios/message-credentials.ts';
import { operationScenarios } from './scenarios/operations.ts';
import { peerScenarios } from './scenarios/peers.ts';
import { restoreScenarios } from './scenarios/restore.ts';
import { retryScenarios } from './scenarios/retrying-router.ts';
import { scaleScenarios } from './scenarios/scale.ts';
import { storeCredentialScenarios } from './scenarios/store-credentials.ts';
import { traceCredentialScenarios } from './scenarios/trace-credentials.ts';
import { trialScenarios } from './scenarios/trial.ts';
import { faultScenarios, quietScenarios } from './scenarios/under-load.ts';
import { templateScenarios } from './scenarios/without-helm.ts';

/**
 * All scenarios, in their order. Those with faulty values need the schema of before the upgrade. Those at the
 * end replace data and certificates.
 */
export const scenarios: readonly Scenario[] = [
  ...installScenarios,
  ...firstConsentScenarios,
  ...trialScenarios,
  ...isolationScenarios,
  ...consoleScenarios,
  ...figureScenarios,
  ...faultyScenarios,
  ...firstInstallScenarios,
  ...quietScenarios,
  ...faultScenarios,
  ...retryScenarios,
  ...gatewayScenarios,
  ...kafkaScenarios,
  ...peerScenarios,
  ...templateScenarios,
  ...scaleScenarios,
  ...operationScenarios,
  ...helm3Scenarios,
  ...messageCredentialScenarios,
  ...traceCredentialScenarios,
  ...storeCredentialScenarios,
  ...restoreScenarios,
  ...certificateScenarios,
];
