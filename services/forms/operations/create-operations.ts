import type { FormsOperations } from '#lib/contracts/forms.ts';
import { withoutDirectionControls } from '#lib/text/direction-controls.ts';
import { pageTheme } from '../domain/content-version.ts';
import { isEntryId } from '../domain/identifiers.ts';
import { pageText } from '../pages/page-text.ts';
import { readActive } from '../queries/active-entries.ts';
import { saveChannels } from '../queries/message-channels.ts';
import { deletePeer, finishState, saveKnownPeers } from '../queries/store-peers.ts';
import { createCheckAnswers } from './check-answers.ts';
import { createCheckSubmission } from './check-submission.ts';
import { createCompareVersions } from './compare-versions.ts';
import { createContext, type FormsContext, type OperationOptions } from './context.ts';
import { describeForm, renderForm } from './describe-form.ts';
import { createSharedEntries, createStorePeerEntries } from './peer-entries.ts';
import { presentActive } from './read-form.ts';
import { renderMessage } from './render-message.ts';
import { createRenderReceiptPdf } from './render-receipt-pdf.ts';
import { createResolveLayout } from './resolve-layout.ts';
import { readVersions } from './versions-at.ts';

/** The internal operations of this service (lib/contracts/forms.ts), which other services call. */
export function createOperations(options: OperationOptions): FormsOperations {
  const context = createContext(options);
  const { db, renderer } = context;
  return {
    resolveLayout: createResolveLayout(context),
    describeForm: (input) => describeForm(context, input),
    compareVersions: createCompareVersions(context),
    renderForm: (input) => renderForm(context, input),
    checkAnswers: createCheckAnswers(context),
    checkSubmission: createCheckSubmission(context),
    activeVersions: async ({ keys }) => presentActive(keys.length > 0 ? await readActive(db, { keys }) : []),
    versionsAt: (input) => readVersions(db, input),
    theme: createFindTheme(context),
    sharedEntries: createSharedEntries(context),
    storePeerEntries: createStorePeerEntries(context),
    finishPeerCatalogue: (input) =>
      db.withTransaction(async (tx) => ({ held: await finishState(tx, input) })),
    forgetPeer: ({ url }) => deletePeer(db, url),
    async setKnownPeers(list) {
      await saveKnownPeers(db, list);
      return {};
    },
    async setMessageChannels({ channels, mailFrom }) {
      await saveChannels(db, channels, mailFrom);
      return {};
    },
    renderPage: async ({ model }) => ({ html: await renderer.renderInTurns(model) }),
    renderText: async ({ model }) => ({
      text: await pageText(await renderer.renderInTurns(withoutDirectionControls(model))),
    }),
    renderMessage: (input) => renderMessage(context, input),
    renderReceiptPdf: createRenderReceiptPdf(context),
    labelForm: async ({ page }) => renderer.label(page),
  };
}

/** The internal operation `theme`; its key may also be an entry id. */
function createFindTheme({ db, contents }: FormsContext): FormsOperations['theme'] {
  return async ({ key, language }) => {
    const [row] = await readActive(db, { keys: [key], ids: isEntryId(key) ? [key] : [] });
    if (row?.type !== 'theme' || !row.version) return null;
    const version = (await contents.get([row.version])).get(row.version);
    return version ? pageTheme(version, language) : null;
  };
}
