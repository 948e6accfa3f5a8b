import { isStreamSafe } from '#lib/text/nfc.ts';

const maxLength = 255;
/** A name appears in texts of other instances: it must not reverse their direction (UAX #9). */
const forbidden = /[\p{Cc}\p{Bidi_Control}]/u;
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** Invisible characters make different names look the same. U+2800 is the blank braille pattern. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}\u2800]/u;

/**
 * Contexts in which invisible characters are legitimate: emoji, and joiners between letters of scripts with
 * joining letters (RFC 5892, appendix A). Made when it is needed, which is seldom: it takes milliseconds.
 */
const legitimate = () =>
  /\p{RGI_Emoji}|(?<=[\p{Script=Arabic}\p{Script=Deva}\p{Script=Beng}\p{Script=Guru}\p{Script=Gujr}\p{Script=Orya}\p{Script=Taml}\p{Script=Telu}\p{Script=Knda}\p{Script=Mlym}\p{Script=Sinh}])[\u200c\u200d](?=[\p{L}\p{M}])/gv;

/** Whether a text has invisible characters without a purpose. */
function hidesText(text: string): boolean {
  return invisible.test(text) && invisible.test(text.replaceAll(legitimate(), ''));
}

/** Whether a name can be shown to users of other instances (docs/federation.md, "Who an instance is"). */
export function isInstanceName(name: string): boolean {
  const text = name.trim();
  if ([...text].length > maxLength || !text.isWellFormed() || !isStreamSafe(text)) return false;
  return visible.test(text) && !forbidden.test(text) && !hidesText(text);
}
