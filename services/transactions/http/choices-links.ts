import type { Context } from 'koa';
import type { ChoicesEntryPage } from '#lib/contracts/pages.ts';
import { Failure, invalidMember } from '#lib/errors/fail.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { preferredMode, sendPage } from '#lib/http/send.ts';
import { askedColorScheme } from '#lib/pages/color-scheme.ts';
import { askForLink } from '../choices/ask-link.ts';
import { isOpenable } from '../choices/links-store.ts';
import { linkIsOver, openLink } from '../choices/open-session.ts';
import { linkMinutes } from '../choices/session.ts';
import type { Dependencies } from './dependencies.ts';
import { firstOf } from './filters.ts';
import { hereOf, readerLanguages, redirectFrame } from './send.ts';

/** /choices/link, /choices/open */
export function choicesLinkHandlers(dependencies: Dependencies) {
  const { db, choices } = dependencies;
  const sendOver = (ctx: Context) => sendEntry(ctx, dependencies, { stage: 'over' }, 410);
  return {
    /** The same for every address and every part, in what it sends and in what it does. */
    async sendChoicesLink(ctx, { body, form, mode }) {
      const from = firstOf(body.from);
      const address = firstOf(body.address) ?? '';
      if (from !== undefined && address !== '')
        throw invalidMember('The body is not valid.', '/from', 'must not stand beside an address');
      const by = from === undefined ? { address } : { from };
      const [language = ''] = readerLanguages(ctx, undefined, dependencies.instance.language);
      const isAllowed = await dependencies.countChoices(ctx);
      const isPage = form || mode === 'html';
      try {
        await askForLink(dependencies, { by, language }, isAllowed);
      } catch (error) {
        if (!isPage || !(error instanceof Failure) || error.code !== 'invalid') throw error;
        const fault = from === undefined && { fault: { address } };
        return sendEntry(ctx, dependencies, { stage: 'ask', ...fault }, 422);
      }
      const isFromPeer = from !== undefined;
      if (isPage) return sendEntry(ctx, dependencies, { stage: 'sent', isFromPeer }, 202);
      ctx.status = 202;
      ctx.body = { minutes: linkMinutes };
    },

    async getChoicesLink(ctx) {
      const id = await linkIn(ctx);
      if (id === undefined || !(await isOpenable(db, id))) {
        if (preferredMode(ctx.get('accept')) !== 'html') throw linkIsOver();
        return sendOver(ctx);
      }
      const url = choices.urlOf(ctx, '/open');
      const address = `${url}${url.includes('?') ? '&' : '?'}t=${tokenIn(ctx)}`;
      await sendEntry(ctx, dependencies, { stage: 'open', url: address });
    },

    async openChoicesLink(ctx) {
      try {
        const id = await linkIn(ctx);
        if (id === undefined) throw linkIsOver();
        const session = await openLink(db, id);
        choices.renew(ctx, session, session.startedAt);
        redirectFrame(ctx, choices.urlOf(ctx, ''));
      } catch (error) {
        const isShown =
          error instanceof Failure && error.code === 'expired' && preferredMode(ctx.get('accept')) === 'html';
        if (!isShown) throw error;
        await sendOver(ctx);
      }
    },
  } satisfies OperationHandlers;

  async function linkIn(ctx: Context): Promise<string | undefined> {
    const read = await dependencies.choicesTokens.read(tokenIn(ctx));
    return read?.use === 'choices-link' ? read.id : undefined;
  }
}

function tokenIn(ctx: Context): string {
  return [ctx.query.t].flat()[0] ?? '';
}

type Entry = Omit<ChoicesEntryPage, 'page' | 'url' | 'isMailed'> & { url?: string };

async function sendEntry(
  ctx: Context,
  dependencies: Dependencies,
  entry: Entry,
  status = 200,
): Promise<void> {
  const html = await renderEntry(ctx, dependencies, entry);
  ctx.vary('Accept-Language');
  sendPage(ctx, html, { status, formTargets: [dependencies.instance.baseUrl] });
}

/** The page before a session: one field for an address, and what has become of it. */
export async function renderEntry(
  ctx: Context,
  dependencies: Pick<Dependencies, 'forms' | 'instance' | 'choices' | 'messaging'>,
  { stage, url, ...rest }: Entry,
): Promise<string> {
  const { forms, instance, choices, messaging } = dependencies;
  const isMailed = messaging.channels.mail !== null;
  const page: ChoicesEntryPage = {
    page: 'choices-entry',
    stage,
    url: url ?? choices.urlOf(ctx, '/link'),
    isMailed,
    ...rest,
  };
  const { html } = await forms.renderPage({
    page,
    languages: readerLanguages(ctx, undefined, instance.language),
    colorScheme: askedColorScheme(ctx.query.colorScheme),
    here: hereOf(ctx, dependencies),
  });
  return html;
}
