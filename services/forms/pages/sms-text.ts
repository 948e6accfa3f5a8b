import type { MessageContent } from '#lib/contracts/messages.ts';
import type { Reader } from '#lib/pages/reader.ts';
import { measureSms, toGsm7 } from '../domain/sms-segments.ts';
import { builtInParts } from './message-parts.ts';

/** More segments cost more, and phones may show them out of order. */
const maxSegments = 2;

/** A text that names the organisation. */
export type Wording = (organisation: string) => string;

/**
 * Writes an SMS of at most two segments. It ends with the code in the format of origin-bound one-time codes
 * (https://wicg.github.io/sms-one-time-codes/), or with the link. If it is too long, first the organisation's
 * name is shortened, then text is left out; the last line is always whole. Only a long link can take more
 * segments.
 * @param model the text of an `email` model; it gives way to the built-in text if it is too long.
 */
export function smsText(
  content: MessageContent,
  organisation: string,
  { reader, model }: { reader: Reader; model: Wording | null },
): string {
  const { code, instance } = content;
  const lastLine = code ? `@${new URL(instance.baseUrl).hostname} #${code}` : linesOf(content, reader);
  const withModel = model ? [withCode(model, code)] : [];
  const builtIn = builtInWordings(content, reader);
  const candidates = [...withModel, ...builtIn].flatMap((wording) =>
    namesOf(organisation).map((name) => wording(name)),
  );
  for (const text of code ? [...candidates, ''] : candidates) {
    const fitting = shortEnough(withLastLine(text, lastLine));
    if (fitting !== undefined) return fitting;
  }
  return withLastLine(simplest(builtIn.at(-1)?.(organisation) ?? ''), lastLine);
}

/** The link; before it the address that ends messages of campaigns. */
function linesOf({ link, campaign }: MessageContent, { t }: Reader): string {
  const stop = campaign ? [`${t('message.campaign.stop')} ${campaign.unsubscribe}`] : [];
  return [...stop, link ?? ''].join('\n');
}

/** The built-in texts, from the longest to the shortest. */
function builtInWordings(content: MessageContent, reader: Reader): Wording[] {
  const { code, minutes } = content;
  const { t } = reader;
  if (!code) return [(organisation) => builtInParts({ ...content, organisation }, reader).subject];
  const after = [...(minutes === null ? [] : [t('message.sms.life', { minutes })]), t('message.sms.ignore')];
  const only = `${t('message.sms.codeOnly')} ${code}.`;
  return [
    (organisation) => [`${t('message.sms.code', { organisation })} ${code}.`, ...after].join(' '),
    () => [only, ...after].join(' '),
    () => only,
  ];
}

/** A model that lacks `{code}` gets the code after its text. */
function withCode(model: Wording, code: string | null): Wording {
  if (!code) return model;
  return (organisation) => {
    const text = model(organisation);
    return text.includes(code) ? text : `${text}\n${code}`;
  };
}

const minNameLength = 8;
const maxNameLength = 60;

/** The name, then shorter and shorter beginnings of it. */
function namesOf(organisation: string): string[] {
  const characters = [...organisation];
  const names = [organisation];
  for (let length = Math.min(maxNameLength, characters.length - 1); length >= minNameLength; length -= 1)
    names.push(`${characters.slice(0, length).join('').trim()}...`);
  return names;
}

function withLastLine(text: string, lastLine: string): string {
  return text === '' || lastLine === '' ? `${text}${lastLine}` : `${text}\n${lastLine}`;
}

/** The text, with all accents if they fit and else without; undefined if it is too long. */
function shortEnough(text: string): string | undefined {
  return [withoutControls(text), simplest(text)].find((each) => measureSms(each).segments <= maxSegments);
}

function simplest(text: string): string {
  const plain = withoutControls(text);
  return toGsm7(plain) ?? plain;
}

/** Removes control characters, and directional isolates, which old phones show as boxes. */
function withoutControls(text: string): string {
  return text.replaceAll(/[\u2066-\u2069]|[^\n\P{Cc}]/gu, '');
}
