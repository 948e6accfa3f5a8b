import { isStreamSafe } from '#lib/text/nfc.ts';

const longest = 255;
/** It stands in sentences of others: it must not turn them round (UAX #9), and must be seen. */
const unfit = /[\p{Cc}\p{Bidi_Control}]/u;
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** What is not seen, and makes two names look the same that are not. U+2800 is the empty pattern of braille. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}\u2800]/u;

/**
 * Where invisible characters are part of what is seen: inside emoji, and the joiners between letters of scripts whose letters join
 * (RFC 5892, appendix A).
 */
const seen =
  /\p{RGI_Emoji}|(?<=[\p{Script=Arabic}\p{Script=Deva}\p{Script=Beng}\p{Script=Guru}\p{Script=Gujr}\p{Script=Orya}\p{Script=Taml}\p{Script=Telu}\p{Script=Knda}\p{Script=Mlym}\p{Script=Sinh}])[\u200c\u200d](?=[\p{L}\p{M}])/gv;

/** Whether people of other instances can be shown this name (docs/federation.md, "Who an instance is"). */
export function isInstanceName(name: string): boolean {
  const text = name.trim();
  if ([...text].length > longest || !text.isWellFormed() || !isStreamSafe(text)) return false;
  return visible.test(text) && !unfit.test(text) && !invisible.test(text.replaceAll(seen, ''));
}
