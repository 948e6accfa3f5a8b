import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PageContent, PageOptions } from '#lib/contracts/pages.ts';
import { withoutDirectionControls } from '#lib/text/direction-controls.ts';
import type { PageModel } from '../pages/page-model.ts';
import { pageText } from '../pages/page-text.ts';
import { readActive, readWithCommas } from '../queries/active-entries.ts';
import { readExportedModels } from '../queries/exported-models.ts';
import { saveChannels } from '../queries/message-channels.ts';
import { deletePeer, finishState, readPeerChoices, saveKnownPeers } from '../queries/store-peers.ts';
import { createCheckAnswers } from './check-answers.ts';
import { createCheckImported } from './check-imported.ts';
import { createCheckSubmission } from './check-submission.ts';
import type { FormsContext } from './context.ts';
import { describeForm } from './describe-form.ts';
import { fillForm } from './fill-form.ts';
import { createSharedEntries, createStorePeerEntries } from './peer-entries.ts';
import { presentActive } from './read-form.ts';
import { renderMessage } from './render-message.ts';
import { completePage } from './render-page.ts';
import { createRenderReceiptPdf } from './render-receipt-pdf.ts';
import { createResolveLayout } from './resolve-layout.ts';
import { readVersions } from './versions-at.ts';

/** The internal operations of this service (lib/contracts/forms.ts), which other services call. */
export function createOperations(context: FormsContext): FormsOperations {
  const { db, renderer, consolePath } = context;

  async function completeModel(page: PageContent, options: PageOptions): Promise<PageModel> {
    if (page.page === 'form') return fillForm(context, page, options);
    if (page.page === 'entry') return { ...(await completePage(context, page, options)), consolePath };
    return completePage(context, page, options);
  }

  return {
    resolveLayout: createResolveLayout(context),
    describeForm: (input) => describeForm(context, input),
    checkAnswers: createCheckAnswers(context),
    checkSubmission: createCheckSubmission(context),
    checkImported: createCheckImported(context),
    activeVersions: async ({ keys }) => presentActive(keys.length > 0 ? await readActive(db, { keys }) : []),
    withCommas: async ({ keys }) => ({ keys: keys.length > 0 ? await readWithCommas(db, keys) : [] }),
    versionsAt: (input) => readVersions(db, input),
    exportModels: (input) => readExportedModels(db, input),
    sharedEntries: createSharedEntries(context),
    storePeerEntries: createStorePeerEntries(context),
    finishPeerCatalogue: (input) =>
      db.withTransaction(async (tx) => ({ held: await finishState(tx, input) })),
    forgetPeer: ({ url }) => deletePeer(db, url),
    async setKnownPeers(list) {
      await saveKnownPeers(db, list);
      return {};
    },
    peerChoices: async ({ urls }) => ({ choices: await readPeerChoices(db, urls) }),
    async setMessageChannels({ channels }) {
      await saveChannels(db, channels);
      return {};
    },
    async renderPage({ page, ...options }) {
      return { html: await renderer.renderInTurns(await completeModel(page, options)) };
    },
    async renderText({ page: given, ...options }) {
      const page = withoutDirectionControls(await completePage(context, given, options));
      return { text: await pageText(await renderer.renderInTurns(page)) };
    },
    renderMessage: (input) => renderMessage(context, input),
    renderReceiptPdf: createRenderReceiptPdf(context),
    async readForm({ page, ...options }) {
      const model = await fillForm(context, page, options);
      return { form: model.form, hidden: model.hidden, labels: renderer.label(model) };
    },
  };
}
