import type { Witnessing } from '#lib/audit/checkpoints.ts';
import type { AuditArea } from '#lib/contracts/audit-areas.ts';
import type { Database } from '#lib/db/database.ts';
import type { NoteSigner } from '#lib/witness/note-signer.ts';
import { insertNote, readCosignatures } from '../queries/notes.ts';
import { listWitnessPeers, readWitnesses } from '../queries/witness-states.ts';

/** What checkpoints have of witnesses. @param others addresses of witnesses that are no peers. */
export function createWitnessing({
  db,
  notes,
  others,
}: {
  db: Database;
  notes: Pick<NoteSigner, 'signHead'>;
  others: readonly string[];
}): Witnessing {
  return {
    async storeNotes(tx, heads) {
      for (const [area, { size, root: hex }] of Object.entries(heads)) {
        const head = { size, root: Buffer.from(hex, 'hex') };
        await insertNote(tx, { area: area as AuditArea, ...head, note: notes.signHead(area, head) });
      }
    },
    cosignaturesOf: (heads) => readCosignatures(db, heads),
    async listWitnesses() {
      const peers = await listWitnessPeers(db);
      return readWitnesses(db, [...peers.map(({ url }) => url), ...others]);
    },
  };
}
