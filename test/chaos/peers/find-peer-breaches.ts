import { type DeliveredMail, findDoubles } from '../check/evidence.ts';
import { mailsArriveOnce, messagesArrive, notificationsAreWritten } from '../check/messages-sent.ts';
import type { Forgotten } from './back-up.ts';
import type { Given, Mode, PeerLine } from './federated-client.ts';
import type { StoredAtLeader, StoredAtOwner, StoredPart } from './stored-parts.ts';

/** All that the checker reads: what people were told, and what both instances hold. */
export interface PeerEvidence {
  history: readonly PeerLine[];
  leader: StoredAtLeader;
  owner: StoredAtOwner;
  /** Of the leader's mail server. */
  mails: readonly DeliveredMail[];
  /** Key of the question at its owner, and of the leader's own. */
  keys: { own: string; theirs: string };
  misconduct: readonly string[];
  /** What instances knew before they were restored from a backup. */
  forgotten?: Restorations;
}

/**
 * Compares what people were told with what two instances hold (reliability.md, I1, I2, I3, I7 and I8).
 * @returns one sentence for every breach, with its invariant; none if all is well.
 */
export function findPeerBreaches(evidence: PeerEvidence): string[] {
  const { leader, misconduct } = evidence;
  const facts = relate(evidence);
  return [
    ...everybodyWasTold(evidence).map((breach) => `I1: ${breach}`),
    ...facts.flatMap(acknowledgedIsKept).map((breach) => `I1: ${breach}`),
    ...facts.flatMap(partsAreFinal).map((breach) => `I1: ${breach}`),
    ...facts.flatMap(ownerHoldsWhatItAccepted).map((breach) => `I1: ${breach}`),
    ...nothingTwice(evidence).map((breach) => `I2: ${breach}`),
    ...leader.marked.map((place) => `I3: an answer to the owner can be read in ${place} of the leader`),
    ...leader.parts
      .filter(({ state, sealed }) => sealed && isFinal(state))
      .map(({ sid, state }) => `I3: the part ${sid} is ${state} and its sealed answers are kept`),
    ...messagesAreSent(evidence).map((breach) => `I7: ${breach}`),
    ...facts.flatMap(codeComesFirst).map((breach) => `I8: ${breach}`),
    ...facts.flatMap(allOrNone).map((breach) => `I8: ${breach}`),
    ...heldForEver(evidence).map((breach) => `I8: ${breach}`),
    ...misconduct.map((breach) => `I9: ${breach}`),
  ];
}

const isFinal = (state: string) => ['ACCEPTED', 'REFUSED', 'DROPPED'].includes(state);

/** One transaction of the leader, and all that belongs to it. */
interface Facts {
  id: string;
  subject: string;
  state: string;
  mode: Mode;
  /** What was given, and acknowledged or not. Undefined: nobody answered. */
  given: Given | undefined;
  acknowledged: boolean;
  cancelled: boolean;
  /** Answers were given, and nobody has sent the code that puts them in force. */
  unconfirmed: boolean;
  ownRecords: Stored['records'];
  hasReceipt: boolean;
  parts: StoredPart[];
  /** By the owner, of its parts. */
  atOwner: Stored[];
  keys: PeerEvidence['keys'];
  lost: Lost;
}

interface Stored {
  sid: string;
  verdict: string;
  id: string | null;
  subject: string | undefined;
  state: string | undefined;
  leader: string | null | undefined;
  records: StoredAtOwner['records'];
  hasReceipt: boolean;
}

function relate(evidence: PeerEvidence): Facts[] {
  const { history, leader, owner, keys } = evidence;
  const lost = lostIn(evidence.forgotten);
  const lines = Map.groupBy(history, (line) => line.id);
  const recordsHere = Map.groupBy(leader.records, ({ transaction }) => transaction);
  const recordsThere = Map.groupBy(owner.records, ({ transaction }) => transaction);
  const parts = Map.groupBy(leader.parts, ({ transaction }) => transaction);
  const there = new Map(owner.transactions.map((transaction) => [transaction.id, transaction]));
  const taken = new Map(owner.submissions.map((submission) => [submission.sid, submission]));
  const [receiptsHere, receiptsThere] = [new Set(leader.receipts), new Set(owner.receipts)];
  const storedOf = ({ sid }: StoredPart): Stored[] => {
    const submission = taken.get(sid);
    if (!submission) return [];
    const { verdict, transaction: id } = submission;
    const { subject, state, leader: of } = there.get(id ?? '') ?? {};
    const records = recordsThere.get(id ?? '') ?? [];
    return [
      { sid, verdict, id, subject, state, leader: of, records, hasReceipt: receiptsThere.has(id ?? '') },
    ];
  };
  return leader.transactions.map(({ id, subject, state }) => {
    const told = lines.get(id) ?? [];
    const submits = told.filter((line) => line.kind === 'submit' || line.kind === 'confirm');
    const awaited = told.some((line) => line.kind === 'submit for a code');
    const ours = parts.get(id) ?? [];
    return {
      id,
      subject,
      state,
      keys,
      lost,
      parts: ours,
      atOwner: ours.flatMap(storedOf),
      mode: told.find((line) => line.kind === 'create')?.mode ?? 'independent',
      given: submits[0]?.given,
      acknowledged: submits.some((line) => line.told === 'acknowledged'),
      cancelled: wasCancelled(told, state),
      unconfirmed: awaited && submits.every((line) => line.told === 'refused'),
      ownRecords: recordsHere.get(id) ?? [],
      hasReceipt: receiptsHere.has(id),
    };
  });
}

/**
 * Whoever asks again because the reply was lost is told that it is too late (docs/interface.md,
 * "Credentials").
 */
function wasCancelled(told: readonly PeerLine[], state: string): boolean {
  const cancels = told.filter((line) => line.kind === 'cancel');
  const isKnown = cancels.some((line) => line.told === 'acknowledged');
  return isKnown || (state === 'CANCELLED' && cancels.some((line) => line.told === 'unknown'));
}

function everybodyWasTold(evidence: PeerEvidence): string[] {
  const { history, leader } = evidence;
  const { transactions: lost } = lostIn(evidence.forgotten);
  const known = new Set(history.filter(({ told }) => told !== 'unknown').map(({ request }) => request));
  const open = history.filter(({ request }) => !known.has(request));
  const states = new Map(leader.transactions.map(({ id, state }) => [id, state]));
  const subjects = new Map(leader.transactions.map(({ id, subject }) => [id, subject]));
  return [
    ...new Set(open.map(({ request, kind }) => `nobody knows what became of request ${request}, a ${kind}`)),
    ...history.flatMap((line) => {
      if (lost.has(line.id ?? '')) return [];
      if (line.told === 'wrong') return [`a ${line.kind} of ${line.id ?? '?'} was answered ${line.why}`];
      if (line.told !== 'acknowledged') return [];
      if (!states.has(line.id ?? '')) return [`${line.kind} of ${line.id} was acknowledged and is lost`];
      return line.kind === 'create' && subjects.get(line.id ?? '') !== line.subject
        ? [`${line.id} is not of ${line.subject}`]
        : [];
    }),
  ];
}

/** What was acknowledged is in force at the leader, or was taken back by who gave it. */
function acknowledgedIsKept(facts: Facts): string[] {
  const { id, state, acknowledged, cancelled, given, ownRecords, hasReceipt, parts, keys, lost } = facts;
  if (lost.transactions.has(id)) return [];
  if (cancelled) return state === 'CANCELLED' ? [] : [`${id} was cancelled and is ${state}`];
  if (!acknowledged || !given) return [];
  if (state !== 'COMMITTED') return [`the answers of ${id} were acknowledged and it is ${state}`];
  const held = ownRecords.map(describe).join(', ');
  return [
    ...(held === `${keys.own} ${given.own} COMMITTED`
      ? []
      : [`${id} was answered ${given.own} and holds ${held || 'nothing'}`]),
    ...(hasReceipt ? [] : [`${id} has no receipt`]),
    ...(parts.length === 1 ? [] : [`${id} has ${parts.length} parts for its owner`]),
  ];
}

const describe = ({ key, value, state }: StoredAtOwner['records'][number]) =>
  `${key} ${value.join('+')} ${state}`;

/** Nobody refuses here: every part comes into force, is taken back, or waits for a code in vain. */
function partsAreFinal({ id, cancelled, unconfirmed, parts, lost }: Facts): string[] {
  return parts.flatMap(({ sid, transaction, state, reason }) => {
    if (!isFinal(state)) return [`the part ${sid} of ${transaction} stays ${state}`];
    if (state === 'ACCEPTED' || ((cancelled || unconfirmed) && state === 'DROPPED')) return [];
    if (lost.transactions.has(id) || lost.taken.has(sid)) return [];
    return [`the part ${sid} of ${transaction} is ${state} (${reason ?? 'no reason'}) and nobody refused it`];
  });
}

/** I1 at the owner: what it has accepted is in force there, of the same subject, and as it was given. */
function ownerHoldsWhatItAccepted({ id, subject, given, parts, atOwner, keys, lost }: Facts): string[] {
  return parts
    .filter(({ sid, state }) => state === 'ACCEPTED' && !lost.taken.has(sid))
    .flatMap(({ sid, remoteId }) => {
      const stored = atOwner.find((each) => each.sid === sid);
      if (stored?.verdict !== 'committed' || stored.state !== 'COMMITTED')
        return [
          `the part ${sid} is ACCEPTED and at its owner ${stored?.verdict ?? 'missing'}, ${stored?.state ?? 'nothing'}`,
        ];
      const held = stored.records.map(describe).join(', ');
      const faults = [
        stored.id === remoteId ? [] : [`says that it is ${remoteId} at its owner and is ${stored.id}`],
        stored.subject === subject ? [] : [`is of ${subject} and at its owner of ${stored.subject}`],
        stored.leader === id ? [] : [`is of ${id} and at its owner of ${stored.leader}`],
        held === `${keys.theirs} ${given?.theirs} COMMITTED`
          ? []
          : [`was answered ${given?.theirs} and its owner holds ${held || 'nothing'}`],
        stored.hasReceipt ? [] : ['has no receipt at its owner'],
      ];
      return faults.flat().map((fault) => `the part ${sid} ${fault}`);
    });
}

/** I7 at the leader. Of what a restored leader has forgotten it has sent messages that it does not know. */
function messagesAreSent({ history, leader, mails, forgotten }: PeerEvidence): string[] {
  const { transactions: lost } = lostIn(forgotten);
  const stored = {
    messages: leader.messages.filter(({ transaction }) => !lost.has(transaction)),
    transactions: leader.transactions.filter(({ id }) => !lost.has(id)),
  };
  const evidence = { history, stored, mails };
  return [
    ...notificationsAreWritten(evidence),
    ...messagesArrive(evidence),
    ...(forgotten?.leader.length ? [] : mailsArriveOnce(evidence)),
  ];
}

/** No part reaches its owner before the subject has confirmed the answers. */
function codeComesFirst({ id, unconfirmed, atOwner, lost }: Facts): string[] {
  if (!unconfirmed || lost.transactions.has(id)) return [];
  return atOwner.map(({ sid }) => `the part ${sid} of ${id} reached its owner without a code`);
}

/** I2: one part, one transaction at its owner, and one record; and nothing there that nobody has sent. */
function nothingTwice(evidence: PeerEvidence): string[] {
  const { leader, owner } = evidence;
  const lost = lostIn(evidence.forgotten);
  const twice = (where: string, names: Iterable<string>) =>
    findDoubles(names).map((name) => `${name} is there twice at the ${where}`);
  const records = ({ transaction, key }: StoredAtOwner['records'][number]) =>
    `the record of ${key} in ${transaction}`;
  const sent = new Set([...leader.parts.map(({ sid }) => sid), ...lost.sent]);
  // Whoever was asked anew because their answers were forgotten has answered anew.
  const known = owner.transactions.filter(({ leader: id }) => !lost.transactions.has(id ?? ''));
  const remembered = new Set(owner.submissions.map(({ transaction }) => transaction));
  return [
    // What was cancelled may be made anew, by a request that was late.
    ...twice(
      'leader',
      leader.transactions
        .filter(({ state }) => state !== 'CANCELLED')
        .map(({ subject }) => `the transaction of ${subject}`),
    ),
    ...twice('leader', leader.records.map(records)),
    ...twice(
      'owner',
      known.map(({ leader: id }) => `the part of ${id}`),
    ),
    ...twice(
      'owner',
      known.map(({ subject }) => `the transaction of ${subject}`),
    ),
    ...twice('owner', owner.records.map(records)),
    ...owner.submissions.filter(({ sid }) => !sent.has(sid)).map(({ sid }) => `nobody sent the part ${sid}`),
    ...owner.transactions
      .filter(({ id }) => !remembered.has(id))
      .map(({ id }) => `the owner has ${id} and remembers no part for it`),
  ];
}

/**
 * I8, and for `independent` the same of what was never acknowledged: in force on both sides, or on neither.
 */
function allOrNone({ id, state, mode, ownRecords, parts, atOwner, hasReceipt, lost }: Facts): string[] {
  const inForce = state === 'COMMITTED';
  const early = ownRecords.filter((record) => (record.state === 'COMMITTED') !== inForce);
  const open = atOwner.filter(({ verdict }) => verdict === 'held');
  const against = atOwner.filter(
    ({ state: there, records, hasReceipt: told }) =>
      !inForce &&
      !lost.commitments.has(id) &&
      (there === 'COMMITTED' || told || records.some((record) => record.state === 'COMMITTED')),
  );
  const missing =
    inForce &&
    mode === 'together' &&
    parts.some(
      ({ sid }) =>
        !lost.taken.has(sid) && !atOwner.some((each) => each.sid === sid && each.state === 'COMMITTED'),
    );
  return [
    ...early.map((record) => `${id} is ${state} and holds ${describe(record)}`),
    ...(hasReceipt && !inForce ? [`${id} is ${state} and has a receipt`] : []),
    ...open.map(({ sid }) => `${id} is ${state} and its owner still holds the part ${sid}`),
    ...against.map(({ sid }) => `${id} is ${state} and its owner has the part ${sid} in force`),
    ...(missing ? [`${id} is COMMITTED and not in force at its owner`] : []),
  ];
}

/** Of what the leader knows nothing there is a decision, too: none was made, so it is a rollback. */
function heldForEver({ leader, owner }: PeerEvidence): string[] {
  const known = new Set(leader.parts.map(({ sid }) => sid));
  return owner.submissions
    .filter(({ sid, verdict }) => verdict === 'held' && !known.has(sid))
    .map(({ sid }) => `the owner still holds the part ${sid}, of which its leader knows nothing`);
}

/** What instances knew before each time that they were restored from a backup. */
export interface Restorations {
  leader: readonly Forgotten[];
  owner: readonly Forgotten[];
}

/** What restorations excuse (docs/federation.md, "After a restore"). */
export interface Lost {
  /** The leader has forgotten what became of these transactions, or all of them. */
  transactions: Set<string>;
  /** It has forgotten that these were in force. */
  commitments: Set<string>;
  /** It has forgotten that it sent these parts. */
  sent: Set<string>;
  /** Their owner has forgotten that it took these. */
  taken: Set<string>;
}

/** What waited for its owner in the backup is sent again, and comes out as it did: that is not excused. */
function lostIn({ leader, owner }: Restorations = { leader: [], owner: [] }): Lost {
  const changed = leader.flatMap(({ transactions }) => transactions);
  const idsOf = (those: typeof changed) => new Set(those.map(({ id }) => id));
  return {
    transactions: idsOf(changed.filter(({ from, to }) => from !== 'SUBMITTED' || to !== 'COMMITTED')),
    commitments: idsOf(changed.filter(({ to }) => to === 'COMMITTED')),
    sent: new Set(leader.flatMap(({ parts }) => parts)),
    taken: new Set(owner.flatMap(({ submissions }) => submissions)),
  };
}
