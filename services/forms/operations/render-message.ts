import type { MessageContent, RenderedMessage } from '#lib/contracts/messages.ts';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import type { FormsContext } from './context.ts';

/** The internal operation `renderMessage`. */
export async function renderMessage(
  { renderer, defaultLanguage }: FormsContext,
  content: MessageContent,
): Promise<RenderedMessage> {
  const language = lookupLanguage(content.languages, renderer.languages) ?? defaultLanguage;
  return renderer.renderMessage(content, language);
}
