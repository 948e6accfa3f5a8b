import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import { recordAction, thisInstance } from '#lib/audit/record-action.ts';
import type { AuditArea, AuditOperations } from '#lib/contracts/audit-areas.ts';
import { Failure } from '#lib/errors/fail.ts';
import { readSize, writeUpdate } from '#lib/witness/checkpoint-note.ts';
import { isCosignature } from '#lib/witness/cosignature.ts';
import { noteTypes, readNote, readNoteKey } from '#lib/witness/note.ts';
import type { PeerClient, TextReply } from '../client/peer-client.ts';
import type { Dependencies } from '../commands/dependencies.ts';
import type { WitnessAddress } from '../config.ts';
import type { Dispute, ShownHead } from '../domain/witness.ts';
import { showHead } from '../domain/witness.ts';
import { readNewestNotes, readNotedRoot, type StoredNote } from '../queries/notes.ts';
import {
  claimAttempt,
  disputeOwnHead,
  listWitnessPeers,
  storeAttemptError,
  storeCosignature,
  storeKnownSize,
} from '../queries/witness-states.ts';

interface Options extends Pick<Dependencies, 'db' | 'log' | 'refreshKeys'> {
  client: Pick<PeerClient, 'sendText'>;
  /** Sends to a witness that is no peer. */
  sendUnsigned: (url: string, body: string) => Promise<TextReply>;
  /** WITNESS_URL */
  others: readonly WitnessAddress[];
  /** The proof of a log, from the service that has it. */
  proofOf(area: AuditArea, sizes: { from: number; to: number }): ReturnType<AuditOperations['auditProof']>;
}

/** A witness that is asked to cosign. */
interface Witness {
  /** Base URL of a peer, or the address of another witness. */
  name: string;
  /** Its keys as it publishes them. */
  keys: readonly string[];
  /** In the audit log. */
  target: string;
  send(body: string): Promise<TextReply>;
  /** Fetches its keys again. */
  refresh(): Promise<unknown>;
}

const lookMs = 5_000;
const prefix = '/federation/witness/add-checkpoint';

/**
 * Asks witnesses to cosign the newest heads, each at most once a minute. One that was away is asked about the
 * newest head alone, with the proof from the one that it knows, so nothing queues up.
 */
export function createWitnessJob(options: Options): RepeatedWork {
  const { db, log } = options;
  return createRepeatedWork({
    everyMs: lookMs,
    async work() {
      const witnesses = await listWitnesses(options);
      if (witnesses.length === 0) return;
      const notes = await readNewestNotes(db);
      await Promise.all(witnesses.map((witness) => askAll(options, witness, notes)));
    },
    onError: (error) => log.warn('failed to ask witnesses; retried in 5 seconds', { error }),
  });
}

async function listWitnesses({ db, client, sendUnsigned, refreshKeys, others }: Options): Promise<Witness[]> {
  const peers = await listWitnessPeers(db);
  return [
    ...peers.map(({ id, url, noteKeys }) => ({
      name: url,
      keys: noteKeys?.witness ?? [],
      target: `peer/${id}`,
      send: (body: string) => client.sendText({ url, path: prefix, body }),
      refresh: () => refreshKeys(url),
    })),
    ...others.map(({ url, key }) => ({
      name: url,
      keys: [key],
      target: `witness/${new URL(url).host}`,
      send: (body: string) => sendUnsigned(`${url}/add-checkpoint`, body),
      refresh: async () => {},
    })),
  ];
}

async function askAll(options: Options, witness: Witness, notes: readonly StoredNote[]): Promise<void> {
  for (const note of notes) {
    const log = { witness: witness.name, area: note.area };
    const known = await claimAttempt(options.db, log, { size: note.size, keys: witness.keys });
    if (known === undefined) continue;
    try {
      await ask(options, witness, { note, known });
    } catch (error) {
      const text = error instanceof Failure ? error.message : 'The witness does not answer.';
      await storeAttemptError(options.db, log, text);
    }
  }
}

/** @param asked.known the size that the witness is believed to know. */
async function ask(
  options: Options,
  witness: Witness,
  { note, known, isRepeated = false }: { note: StoredNote; known: number; isRepeated?: boolean },
): Promise<void> {
  const { db, proofOf } = options;
  const log = { witness: witness.name, area: note.area };
  // After a restore the witness may know more than there is.
  const { proof } =
    known > note.size ? { proof: [] } : await proofOf(note.area, { from: known, to: note.size });
  if (!proof) return storeAttemptError(db, log, 'The log is shorter than its head.');
  const hashes = proof.map((hash) => Buffer.from(hash, 'hex'));
  const old = Math.min(known, note.size);
  const reply = await witness.send(writeUpdate({ old, proof: hashes, note: note.note }));
  if (reply.status === 200) return acceptCosignature(options, witness, { note, text: reply.text });
  if (reply.status === 409) {
    const size = readSize(reply.text.trim());
    if (size === undefined) return storeAttemptError(db, log, 'The witness states no size.');
    await storeKnownSize(db, log, size);
    if (size > note.size) return dispute(options, witness, { note, known: { size } });
    if (!isRepeated) return ask(options, witness, { note, known: size, isRepeated: true });
  }
  if (reply.status === 422) return dispute(options, witness, { note, known: readKnown(reply.text, known) });
  const hint =
    { 403: ': it does not know our key', 404: ': it does not witness this log' }[reply.status] ?? '';
  return storeAttemptError(db, log, `The witness answered ${reply.status}${hint}.`);
}

/** What a peer says it knows, beside a 422. @param size that it was believed to know. */
function readKnown(text: string, size: number): ShownHead {
  try {
    const { known } = JSON.parse(text) as { known?: { size?: unknown; root?: unknown } };
    if (Number.isSafeInteger(known?.size) && /^[0-9a-f]{64}$/.test(String(known?.root)))
      return { size: Number(known?.size), root: String(known?.root) };
  } catch {
    // A witness that is no peer says nothing.
  }
  return { size };
}

async function acceptCosignature(
  { db }: Options,
  witness: Witness,
  { note, text }: { note: StoredNote; text: string },
): Promise<void> {
  const signed = readNote(note.note)?.text ?? '';
  const lines = text.split('\n');
  const found = witness.keys.flatMap((vkey) => {
    const key = readNoteKey(vkey, noteTypes.cosignature);
    const signature = key && lines.find((line) => isCosignature(line, signed, key));
    return signature === undefined ? [] : [{ ...note, witness: vkey, signature }];
  });
  const [cosignature] = found;
  if (cosignature) return db.withTransaction((tx) => storeCosignature(tx, witness.name, cosignature));
  await witness.refresh();
  const log = { witness: witness.name, area: note.area };
  await storeAttemptError(db, log, 'The answer has no cosignature of a known key.');
}

async function dispute(
  { db, log }: Options,
  { name, target }: Witness,
  { note, known }: { note: StoredNote; known: ShownHead },
): Promise<void> {
  const root = known.root ?? (await readNotedRoot(db, note.area, known.size))?.toString('hex');
  const [origin = ''] = note.note.split('\n', 1);
  const heads: Dispute = { origin, known: { ...known, root }, stated: showHead(note) };
  await db.withTransaction(async (tx) => {
    const about = { witness: name, area: note.area };
    await storeAttemptError(tx, about, 'The witness knows another history of this log.');
    if (!(await disputeOwnHead(tx, about, heads.stated))) return;
    const outcome = JSON.stringify(heads);
    await recordAction(tx, { action: 'head.disputed', target, outcome }, thisInstance);
    log.error(`a witness knows another history of a log of this instance: ${outcome}`);
  });
}
