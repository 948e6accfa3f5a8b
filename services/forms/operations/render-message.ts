import type { MessageRequest, RenderedMessage } from '#lib/contracts/messages.ts';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import { type ContentVersion, pageTheme } from '../domain/content-version.ts';
import { isEntryId } from '../domain/identifiers.ts';
import { reservedKeyOf } from '../domain/message-keys.ts';
import { contentIn, type ModelType } from '../domain/model.ts';
import { controllerIn } from '../pages/facts.ts';
import type { MailModel } from '../pages/message-parts.ts';
import { isOwnUrl } from '../pages/placeholders.ts';
import { readActive } from '../queries/active-entries.ts';
import type { FormsContext } from './context.ts';
import { readAsked } from './render-page.ts';

/**
 * The internal operation `renderMessage`. If the model is no longer ACTIVE, the message has the built-in
 * text.
 */
export async function renderMessage(
  context: FormsContext,
  { information, layout, ...content }: MessageRequest,
): Promise<RenderedMessage> {
  const { renderer, instance } = context;
  const { kind, link, languages } = content;
  const urls = [link, content.campaign?.unsubscribe, ...(content.links ?? []).map(({ url }) => url)];
  if (!urls.every((url) => url == null || isOwnUrl(url, instance.baseUrl)))
    throw new Error('The link of a message is not a URL of this instance');
  const { email, theme } = await readModels(context, content.model ?? reservedKeyOf(kind), content.theme);
  const known = email ? email.languages : renderer.languages;
  const language = lookupLanguage(languages, known) ?? email?.defaultLanguage ?? instance.language;
  const asked =
    information ?? (layout ? (await readAsked(context, { layout, languages }))?.information : undefined);
  const asker = controllerIn(asked, language);
  const title = asked?.texts.title;
  const facts = {
    ...content,
    instance,
    organisation: (!asker?.isHidden && asker?.controller.company) || instance.name,
    purpose: typeof title === 'string' ? title : null,
  };
  return renderer.renderMessage(facts, {
    language,
    mail: email ? contentIn<MailModel>(email.data, language) : null,
    brand: (theme && pageTheme(theme, language).logo?.alt) || null,
  });
}

/** The ACTIVE versions of an `email` model and a theme, each by key or entry id. */
async function readModels({ db, contents }: FormsContext, email: string | null, theme: string | null) {
  const names = [email, theme].flatMap((name) => name ?? []);
  if (names.length === 0) return {};
  const rows = await readActive(db, { keys: names, ids: names.filter(isEntryId) });
  const versions = await contents.get(rows.flatMap(({ version }) => version ?? []));
  const find = (name: string | null, type: ModelType): ContentVersion | undefined => {
    const row = rows.find(
      (each) => each.type === type && (each.key === name || each.id === name?.toLowerCase()),
    );
    return row?.version ? versions.get(row.version) : undefined;
  };
  return { email: find(email, 'email'), theme: find(theme, 'theme') };
}
