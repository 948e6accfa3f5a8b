import { outboundTexts } from '#lib/outbound/targets.ts';

/** The beginnings of sentences that say why a delivery failed, beside those of the client itself. */
const others = {
  'no-response': 'The endpoint did not respond.',
  'not-sent': 'The request could not be sent.',
  status: 'The endpoint responded with ',
  'peer-status': 'The peer answered ',
  acknowledgement: 'The acknowledgement',
  'no-acknowledgement': 'The response of the peer contains no acknowledgement.',
};

/** Why a delivery failed: `other` stands for what has no code of its own. */
export type FailureCode =
  | keyof typeof outboundTexts
  | 'no-response'
  | 'not-sent'
  | 'status'
  | 'acknowledgement'
  | 'other';

/** The code of the sentence that was stored with a failed delivery, for readers of other languages. */
export function failureCode(sentence: string): FailureCode {
  const found = Object.entries({ ...outboundTexts, ...others }).find(([, start]) =>
    sentence.startsWith(start),
  );
  const code = found?.[0] ?? 'other';
  return (aliases[code] ?? code) as FailureCode;
}

const aliases: Readonly<Record<string, FailureCode>> = {
  'peer-status': 'status',
  'no-acknowledgement': 'acknowledgement',
};
