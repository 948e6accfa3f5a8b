import { makeValidator } from 'envalid';
import { outboundSpecs } from '#lib/config/specs.ts';
import { listItems } from '#lib/config/validators.ts';
import { readNoteKey } from '#lib/witness/note.ts';

/** A witness that is no peer (c2sp.org/tlog-witness). */
export interface WitnessAddress {
  /** Submission prefix, without a slash at its end. */
  url: string;
  /** Its key, as it publishes it. */
  key: string;
}

/** WITNESS_URL: `<submission prefix>#<key>`, several separated by commas. */
const witnessList = makeValidator<WitnessAddress[]>((text) =>
  listItems(text).map((item) => {
    const at = item.indexOf('#');
    const [address, key] = [item.slice(0, at), item.slice(at + 1)];
    const url = URL.parse(address);
    if (at < 0 || !url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '')
      throw new Error('must be like https://witness.example.org#<its key>');
    if (!readNoteKey(key))
      throw new Error('must have an Ed25519 key of a note (c2sp.org/signed-note) after #');
    return { url: address.replace(/\/$/, ''), key };
  }),
);

/** Settings of the service peers (docs/operations.md, "Settings"). */
export const peersSpecs = { ...outboundSpecs, WITNESS_URL: witnessList({ default: [] }) };
