import { major } from '#lib/contracts/record-status.ts';
import type { VersionAt } from '#lib/contracts/versions.ts';

/** Why a decision is as it is (docs/decisions-api.md). GIVEN alone allows. */
export type DecisionReason =
  | 'GIVEN'
  | 'UNKNOWN'
  | 'NOT_OURS'
  | 'RESTRICTED'
  | 'NO_ANSWER'
  | 'WITHDRAWN'
  | 'REFUSED'
  | 'EXPIRED'
  | 'NOT_ACTIVE'
  | 'NOTICE_CHANGED'
  | 'CHANGED'
  | 'NOT_PROVEN';

/** A subject's newest committed answer to an element at a time. */
export interface AnswerAt {
  record: string;
  serial: string;
  infoKey: string;
  infoSerial: string;
  refused: boolean;
  /** Whether it is a refusal that ended an acceptance. */
  withdraws: boolean;
  /** Whether it is an answer to another instance's form. */
  ofPeer: boolean;
  /** Whether it was taken over from another system. */
  isImported: boolean;
  given: Date;
  expires: Date | null;
}

/** A decision about one element (openapi.yaml, `Decision`). */
export interface ElementDecision {
  allowed: boolean;
  reason: DecisionReason;
  element: string;
  object?: string;
  record?: string;
  serial?: string;
  given?: string;
  expires?: string;
  evidence?: 'COLLECTED' | 'PEER' | 'IMPORTED';
  /** Where people may object: an answer that allows is no consent. */
  basis?: 'OBJECTION';
  owner?: string;
  asOf: string;
  position: number;
}

/** A decision about a purpose: allowed if every element that has it is. */
export interface PurposeDecision {
  allowed: boolean;
  reason: DecisionReason;
  purpose: string;
  object?: string;
  /** By element key; empty if no ACTIVE element has the purpose. */
  decisions: ElementDecision[];
  asOf: string;
  /** Undefined without decisions. */
  position?: number;
}

export type Decision = ElementDecision | PurposeDecision;

/** The facts that a decision about an element depends on. */
export interface DecisionFacts {
  element: string;
  /** Empty for none. */
  object: string;
  /** Undefined if nothing has this key. */
  version: VersionAt | undefined;
  /** Whether a hold restricts the use of the subject's data (docs/erasure.md). */
  restricted: boolean;
  answer: AnswerAt | undefined;
  /** The information under which the answer was given. */
  information: VersionAt | undefined;
  asOf: Date;
  /** The person's position that was seen. */
  position: number;
  /** Whether only answers with a receipt of an instance allow. */
  isCollectedAlone: boolean;
}

/** Decides about an element: the first rule that matches. */
export function decideElement(facts: DecisionFacts): ElementDecision {
  const { element, object, version, answer, asOf, position } = facts;
  const reason = reasonOf(facts);
  return {
    allowed: reason === 'GIVEN',
    reason,
    element,
    ...(object !== '' && { object }),
    ...(answer && {
      record: answer.record,
      serial: answer.serial,
      given: answer.given.toISOString(),
      ...(answer.expires && { expires: answer.expires.toISOString() }),
      evidence: answer.isImported ? 'IMPORTED' : answer.ofPeer ? 'PEER' : 'COLLECTED',
    }),
    ...(version?.isObjection && { basis: 'OBJECTION' as const }),
    ...(version?.owner && { owner: version.owner }),
    asOf: asOf.toISOString(),
    position,
  };
}

function reasonOf(facts: DecisionFacts): DecisionReason {
  const { version, restricted, answer, information, asOf } = facts;
  if (!isDecidable(version)) return 'UNKNOWN';
  if (version.owner !== null) return 'NOT_OURS';
  if (restricted) return 'RESTRICTED';
  if (!answer) return 'NO_ANSWER';
  if (answer.refused) return answer.withdraws ? 'WITHDRAWN' : 'REFUSED';
  if (answer.expires && answer.expires <= asOf) return 'EXPIRED';
  if (version.major === null) return 'NOT_ACTIVE';
  if (information?.major !== major(answer.infoSerial)) return 'NOTICE_CHANGED';
  if (version.major !== major(answer.serial)) return 'CHANGED';
  return answer.isImported && facts.isCollectedAlone ? 'NOT_PROVEN' : 'GIVEN';
}

/** Whether an entry is one that people accept or refuse. */
function isDecidable(version: VersionAt | undefined): version is VersionAt {
  return version?.type === 'processing' || version?.type === 'conditions';
}

/**
 * Decides about a purpose by the decisions about the elements that have it.
 * @param facts.asOf may be absent if there is a decision: its time counts then.
 */
export function decidePurpose(
  purpose: string,
  { object, decisions, asOf }: { object: string; decisions: ElementDecision[]; asOf: Date | undefined },
): PurposeDecision {
  const refused = decisions.find(({ allowed }) => !allowed);
  const reason = decisions.length === 0 ? 'UNKNOWN' : (refused?.reason ?? 'GIVEN');
  return {
    allowed: reason === 'GIVEN',
    reason,
    purpose,
    ...(object !== '' && { object }),
    decisions,
    asOf: asOf?.toISOString() ?? decisions[0]?.asOf ?? '',
    ...(decisions[0] && { position: decisions[0].position }),
  };
}
