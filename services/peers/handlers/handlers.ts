import type { JWK } from 'jose';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Handlers } from '#lib/http/operation.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import type { SelfDescription } from '../domain/self-description.ts';
import { acceptPairingHandler } from './accept-pairing.ts';
import { acceptSubmissionHandler } from './accept-submission.ts';
import { announceChangeHandler } from './announce-change.ts';
import { createPeerHandler } from './create-peer.ts';
import { decideSubmissionHandler } from './decide-submission.ts';
import { deletePeerHandler } from './delete-peer.ts';
import type { Dependencies, SubmissionDependencies } from './dependencies.ts';
import { endPairingHandler } from './end-pairing.ts';
import { getInstanceHandler } from './get-instance.ts';
import { getPeerHandler } from './get-peer.ts';
import { listPeersHandler } from './list-peers.ts';
import { listSharedModelsHandler } from './list-shared-models.ts';
import { readDecisionHandler } from './read-decision.ts';
import { updatePeerHandler } from './update-peer.ts';

interface Own {
  description: SelfDescription;
  /** Vouches for the others in the self-description. */
  vouchingKey: JWK;
  signingKey: JWK & { kid: string };
  forms: Pick<FormsOperations, 'sharedEntries'>;
  limiter: RateLimiter;
  submissions: SubmissionDependencies;
}

/** The service's handlers by operationId (openapi.yaml, tag peers). */
export function createHandlers(dependencies: Dependencies, own: Own): Handlers {
  const { description, vouchingKey, limiter, submissions } = own;
  return {
    getInstance: getInstanceHandler({ description, signingKey: vouchingKey }),
    listPeers: listPeersHandler(dependencies),
    createPeer: createPeerHandler(dependencies),
    getPeer: getPeerHandler(dependencies),
    updatePeer: updatePeerHandler(dependencies),
    deletePeer: deletePeerHandler(dependencies),
    acceptPairing: acceptPairingHandler(dependencies, limiter),
    endPairing: endPairingHandler(dependencies),
    acceptSubmission: acceptSubmissionHandler(submissions),
    decideSubmission: decideSubmissionHandler(submissions),
    readDecision: readDecisionHandler(submissions),
    announceChange: announceChangeHandler(dependencies),
    listSharedModels: listSharedModelsHandler({ ...own, ...dependencies }),
  };
}
