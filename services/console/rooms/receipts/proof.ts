import type { ApiClient } from '../../api/api-client.ts';
import type { Schemas } from '../../api/api-types.ts';
import { type FactView, factsView } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import { consolePath } from '../../pages/navigation.ts';
import type { StateMark } from '../../pages/states.ts';

type Signature = NonNullable<Schemas['Receipt']['signature']>;

/** What proves that a receipt is as it was signed, without the receipt itself: its number is enough. */
export interface ReceiptProof {
  verdict: StateMark;
  facts: FactView[];
}

/** Until then the log may not have the line yet: lines are sealed some seconds after the COMMIT. */
const sealedWithinMs = 60_000;

/** The shapes of verdicts. `soon`: signed a moment ago. `gone`: the log has no digest (any more). */
const shapes = { same: 'in-force', other: 'needs-you', soon: 'under-way', gone: 'needs-you' } as const;

/**
 * Compares the digest of a receipt with that of its line in the audit log, which checkpoints cover
 * (docs/evidence.md).
 */
export async function readProof(
  api: ApiClient,
  reader: ConsoleReader,
  { transaction, timestamp, signature }: { transaction: string; timestamp: string; signature: Signature },
): Promise<ReceiptProof> {
  const query = { target: `transaction/${transaction}`, action: 'receipt.signed' };
  const { rows } = await api.list('listConsentsAudit', { query });
  const line = rows.flatMap((each) => ('digest' in each ? each : []))[0];
  const isNew = Date.now() - Date.parse(timestamp) < sealedWithinMs;
  const without = isNew ? 'soon' : 'gone';
  const verdict = line ? (line.digest === signature.sha256 ? 'same' : 'other') : without;
  return {
    verdict: { word: reader.t(`proof.${verdict}`), shape: shapes[verdict] },
    facts: factsView(reader, {
      'proof.sha256': { code: signature.sha256, note: reader.t('proof.sha256Note') },
      'proof.kid': { code: signature.kid },
      'proof.line': line?.seq !== undefined && {
        text: reader.number(line.seq),
        href: withQuery(`${consolePath}/audit`, query),
      },
      'proof.at': line && { time: reader.time(line.at) },
    }),
  };
}
