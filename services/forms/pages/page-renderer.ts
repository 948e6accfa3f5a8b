import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { FormChange, FormLabels } from '#lib/contracts/form-content.ts';
import type { MessageContent, RenderedMessage } from '#lib/contracts/messages.ts';
import type { ReceiptPage } from '#lib/contracts/pages.ts';
import { isTrial } from '#lib/contracts/trials.ts';
import type { Assets } from '#lib/http/assets.ts';
import { loadMailTemplate } from '#lib/mail/mail-template.ts';
import { usedColorScheme } from '#lib/pages/color-scheme.ts';
import { loadTemplates } from '#lib/pages/load-templates.ts';
import { createReader, isLanguageTag, type Reader } from '#lib/pages/reader.ts';
import type { ComparisonBudget } from '#lib/text/compare-words.ts';
import type { PosterSheet } from '../pdf/typesetter.ts';
import { apiView } from './api-view.ts';
import { choicesEntryView, choicesView } from './choices-view.ts';
import { compareContents, type Item } from './compare-contents.ts';
import { confirmView } from './confirm-view.ts';
import { entryView } from './entry-view.ts';
import { exportPartView, exportView } from './export-view.ts';
import { askerView } from './facts.ts';
import { formLabels } from './form-labels.ts';
import { answeredView, formView, isAnswered } from './form-view.ts';
import { mailView } from './mail-view.ts';
import { createMessageRenderer, type MessageStyle, type RenderMessage } from './message-renderer.ts';
import { messagesView } from './messages-view.ts';
import type { Drawn, EntryModel, FormModel, PageModel } from './page-model.ts';
import { posterSheet } from './poster-sheet.ts';
import { problemView } from './problem-view.ts';
import { receiptView } from './receipt-view.ts';
import { createRichBlocks, type RichBlock, type RichBlocks, writeRichBlocks } from './rich-blocks.ts';
import { createRichText } from './rich-text-tree.ts';
import { childView, errorView, resultName, resultView } from './status-views.ts';
import { unsubscribeView } from './unsubscribe-view.ts';
import { verifyView } from './verify-view.ts';
import { hostView, welcomeView } from './welcome-view.ts';
import { loadWords } from './words.ts';

/** Renders page models to HTML. */
export interface PageRenderer {
  render(model: PageModel): string;
  /** Renders a page that may have many long texts: other requests have their turn in between. */
  renderInTurns(model: PageModel): Promise<string>;
  /** What differs between two versions of an entry, for readers of a language. */
  compare(versions: {
    before: Item;
    after: Item;
    language: string;
    budget: ComparisonBudget;
  }): Promise<FormChange['fields']>;
  /** The texts of a form page around its content. */
  label(page: FormModel): FormLabels;
  /** Writes a mail or SMS to a subject. */
  renderMessage(content: MessageContent, style: MessageStyle): RenderedMessage;
  /** Texts of a receipt on paper besides those of its page. */
  paperWords(page: Drawn<ReceiptPage>): { attachment: string; replacedNote: string };
  /** A page of the poster of a form. */
  posterSheet(page: EntryModel): PosterSheet;
  /** Languages that have a catalogue. */
  languages: string[];
}

/** Templates in `views/`, which most pages are named after. */
const templateNames = [
  ...([
    'entry',
    'choices',
    'choices-entry',
    'verify',
    'unsubscribe',
    'form',
    'answered',
    'confirm',
    'result',
    'child',
    'error',
    'receipt',
    'export',
    'export-part',
  ] as const),
  ...(['messages', 'mail', 'welcome', 'host', 'problem', 'api', 'rich'] as const),
] as const;

/** The template of a page, and the name of the page for its style and its messages to the embedding page. */
function namesOf(model: PageModel) {
  if (model.page === 'form' && isAnswered(model)) return { template: 'answered', name: 'answered' } as const;
  if (model.page === 'result') return { template: 'result', name: resultName(model) } as const;
  return { template: model.page, name: model.page };
}

/** Other requests have their turn after a longer page. */
const longPage = 500_000;

/** Pages for developers, which are in English like openapi.yaml. */
const englishOnly = new Set<PageModel['page']>(['problem', 'api']);

/** Loads the templates of all pages and messages. */
export function loadPageTemplates() {
  return loadTemplates(new URL('../views/', import.meta.url), templateNames);
}

/** @param locales folder with messages of the organisation's own (LOCALES_DIR), if there is one. */
export function createPageRenderer(assets: Assets, locales?: string): PageRenderer {
  const catalogues = loadWords(locales);
  const templates = loadPageTemplates();
  const rich = createRichText();
  const blocks = createRichBlocks(rich, templates.rich);
  const renderMessage = createMessageRenderer(loadMailTemplate());
  const readers = new LRUCache<string, Reader>({ max: 100 });

  /** Readers are cached because Intl formatters are slow to create. */
  function readerFor(language: string, timeZone: string): Reader {
    const catalogue = catalogues.pick(language);
    const isVariant = isLanguageTag(language) && language.toLowerCase().startsWith(`${catalogue.language}-`);
    const locale = isVariant ? language : catalogue.language;
    const key = `${locale} ${timeZone}`;
    const reader = readers.get(key) ?? createReader(catalogue, timeZone, locale);
    readers.set(key, reader);
    return reader;
  }

  /** Replaces the link to the style sheet by its content: the document is read without a connection. */
  function withStyles(html: string): string {
    const url = assets.url('accord.css');
    return html.replace(
      `<link rel="stylesheet" href="${url}">`,
      () => `<style>${assets.get(url)?.body.plain}</style>`,
    );
  }

  function readerOf(model: PageModel): Reader {
    const language = englishOnly.has(model.page) ? 'en' : model.language;
    return readerFor(language, model.instance.timeZone);
  }

  function write(model: PageModel, reader: Reader, view: unknown): string {
    const { template, name } = namesOf(model);
    const html = templates[template]({
      model,
      name,
      embedding: embeddingOf(model),
      reader,
      t: reader.t,
      asset: assets.url,
      colorScheme: usedColorScheme(model),
      view,
      isTrial: 'transaction' in model && isTrial(model.transaction?.context?.subject ?? ''),
      asker: askerView(model, reader),
    });
    return model.page === 'export' ? withStyles(html) : html;
  }

  return {
    languages: catalogues.languages,
    render(model) {
      const reader = readerOf(model);
      return write(model, reader, viewOf(model, { reader, blocks, renderMessage }));
    },
    async renderInTurns(model) {
      const reader = readerOf(model);
      const used: RichBlock[] = [];
      const noting: RichBlocks = (html, topHeading) => {
        const block = blocks(html, topHeading);
        used.push(block);
        return block;
      };
      const view = viewOf(model, { reader, blocks: noting, renderMessage });
      await writeRichBlocks(used);
      const html = write(model, reader, view);
      // To put the longest pages together takes some 50 ms, and to send them as much again.
      if (html.length > longPage) await nextTurn();
      return html;
    },
    renderMessage: (content, style) =>
      renderMessage(content, style, readerFor(style.language, content.instance.timeZone)),
    paperWords({ language, instance }) {
      const { t } = readerFor(language, instance.timeZone);
      return { attachment: t('receipt.attachment'), replacedNote: t('receipt.replaced') };
    },
    posterSheet: (page) => posterSheet(page, readerOf(page)),
    compare: ({ before, after, language, budget }) =>
      compareContents(before, after, { reader: readerFor(language, 'UTC'), rich, budget }),
    label: (page) => formLabels(page, readerFor(page.language, page.instance.timeZone), blocks),
  };
}

/** What a page sends to the page that embeds it; never an answer (docs/security.md, "Pages"). */
function embeddingOf(model: PageModel) {
  if (model.page === 'error') return { iframeOrigin: model.iframeOrigin };
  if (model.page === 'entry') return { includeIFrameResizer: model.layout.includeIFrameResizer };
  if (!('transaction' in model) || !model.transaction) return {};
  const { id, state, context } = model.transaction;
  return {
    transaction: id,
    state,
    iframeOrigin: context?.iframeOrigin,
    callbackTriggerDelay: context?.callbackTriggerDelay,
    includeIFrameResizer: model.layout?.includeIFrameResizer,
  };
}

interface ViewTools {
  reader: Reader;
  blocks: RichBlocks;
  renderMessage: RenderMessage;
}

/** The view of a page: what its template shows besides the model. Views decide, templates only insert. */
function viewOf(model: PageModel, { reader, blocks, renderMessage }: ViewTools): unknown {
  switch (model.page) {
    case 'form':
      return isAnswered(model) ? answeredView(model, reader) : formView(model, reader, blocks);
    case 'entry':
      return entryView(model, reader);
    case 'choices':
      return choicesView(model, reader);
    case 'choices-entry':
      return choicesEntryView(model, reader);
    case 'verify':
      return verifyView(model, reader);
    case 'unsubscribe':
      return unsubscribeView(model, reader);
    case 'confirm':
      return confirmView(model, reader);
    case 'messages':
      return messagesView(model, reader);
    case 'child':
      return childView(model, reader);
    case 'error':
      return errorView(model, reader);
    case 'receipt':
      return receiptView(model, reader, blocks);
    case 'export':
      return exportView(model, reader);
    case 'export-part':
      return exportPartView(model, reader, blocks);
    case 'mail':
      return mailView(model, reader, renderMessage);
    case 'welcome':
      return welcomeView(model, reader);
    case 'problem':
      return problemView(model);
    case 'host':
      return hostView(model);
    case 'api':
      return apiView(model, blocks);
    default:
      return resultView(model, reader);
  }
}
