import { recordAction, thisInstance } from '#lib/audit/record-action.ts';
import type { AuditArea } from '#lib/contracts/audit-areas.ts';
import { fail } from '#lib/errors/fail.ts';
import {
  type CheckpointUpdate,
  type LogHead,
  type NotedHead,
  readCheckpointText,
  readUpdate,
} from '#lib/witness/checkpoint-note.ts';
import { isSignedBy, type Note, readNote, readNoteKey } from '#lib/witness/note.ts';
import type { NoteSigner } from '#lib/witness/note-signer.ts';
import { isFork, judgeUpdate, showHead } from '../domain/witness.ts';
import {
  disputeWitnessedHead,
  findWitnessedPeer,
  readWitnessedHead,
  replaceWitnessedHead,
  type WitnessedPeer,
} from '../queries/witnessed-heads.ts';
import type { Dependencies } from './dependencies.ts';

export interface WitnessDependencies extends Pick<Dependencies, 'db' | 'log' | 'refreshKeys'> {
  notes: Pick<NoteSigner, 'cosign'>;
}

/** The answer of a witness: its cosignature, or the size that it knows. */
export type WitnessAnswer = { line: string } | { knownSize: number };

interface ReadRequest {
  update: CheckpointUpdate;
  note: Note;
  head: NotedHead;
}

/** Two updates of one log at once: the second is judged again by what the first has stored. */
const maxAttempts = 3;

/**
 * Answers `add-checkpoint` as a witness (c2sp.org/tlog-witness). Contradictions are recorded if nobody but
 * the peer can have caused them: others can repeat what it has signed, or send a wrong proof.
 * @param sender base URL of the peer that signed the request; undefined for others.
 * @throws Failure `malformed`, `not-found` for another log, `forbidden` without a valid signature, `invalid`
 * for a fork or a wrong proof.
 */
export async function addCheckpoint(
  dependencies: WitnessDependencies,
  body: string,
  sender: string | undefined,
): Promise<WitnessAnswer> {
  const { db, notes } = dependencies;
  const request = readRequest(body);
  const { update, note, head } = request;
  const peer = await requireSigned(dependencies, request);
  for (let attempt = 1; ; attempt += 1) {
    const known = await readWitnessedHead(db, head.origin);
    const verdict = judgeUpdate(known, update, head);
    if (verdict === 'cosign') {
      const isStored = await replaceWitnessedHead(db, head, known);
      if (isStored) return { line: notes.cosign(note.text, new Date()) };
      if (attempt < maxAttempts) continue;
    }
    const isBack = head.size < (known?.size ?? 0);
    const isProved = isFork(known, head) || (sender === peer.url && (isBack || verdict === 'inconsistent'));
    if (known && isProved) await recordDispute(dependencies, peer, { known, head });
    if (verdict === 'malformed')
      throw fail('malformed', 'The old size is larger than that of the checkpoint.');
    if (verdict !== 'inconsistent') return { knownSize: known?.size ?? 0 };
    throw fail('invalid', 'The checkpoint is not consistent with the one that this witness knows.', {
      members: known ? { known: showHead(known) } : {},
      errors: [],
    });
  }
}

function readRequest(body: string): ReadRequest {
  const update = readUpdate(body);
  const note = update && readNote(update.note);
  const head = note && readCheckpointText(note.text);
  if (!head) throw fail('malformed', 'The body is not an update of a checkpoint (c2sp.org/tlog-witness).');
  return { update, note, head };
}

/** @throws Failure `not-found`, `forbidden`. */
async function requireSigned(
  { db, refreshKeys }: WitnessDependencies,
  { note, head: { origin } }: ReadRequest,
): Promise<WitnessedPeer> {
  const at = origin.lastIndexOf('/');
  const [host, area] = [origin.slice(0, at), origin.slice(at + 1)];
  const isSigned = ({ noteKeys }: WitnessedPeer) =>
    isSignedBy(
      note,
      (noteKeys?.logs[area as AuditArea] ?? []).flatMap((key) => readNoteKey(key) ?? []),
    );
  const peer = await findWitnessedPeer(db, host);
  if (!peer) throw fail('not-found', 'This log is not witnessed here.');
  if (isSigned(peer)) return peer;
  const renewed = (await refreshKeys(peer.url)) ? await findWitnessedPeer(db, host) : undefined;
  if (renewed && isSigned(renewed)) return renewed;
  throw fail('forbidden', 'The checkpoint has no valid signature of its log.');
}

async function recordDispute(
  { db, log }: WitnessDependencies,
  { id }: WitnessedPeer,
  { known, head }: { known: LogHead; head: NotedHead },
): Promise<void> {
  const { origin } = head;
  const dispute = { origin, known: showHead(known), stated: showHead(head) };
  await db.withTransaction(async (tx) => {
    if (!(await disputeWitnessedHead(tx, origin, dispute.stated))) return;
    const outcome = JSON.stringify(dispute);
    await recordAction(tx, { action: 'head.disputed', target: `peer/${id}`, outcome }, thisInstance);
    log.error(`a peer shows another history of its log: ${outcome}`, { id });
  });
}
