import { LRUCache } from 'lru-cache';
import type { FormLabels } from '#lib/contracts/form-content.ts';
import type { FormPage, PageModel } from '#lib/contracts/pages.ts';
import { usedColorScheme } from '#lib/pages/color-scheme.ts';
import { loadTemplates } from '#lib/pages/load-templates.ts';
import { apiView } from './api-view.ts';
import type { Assets } from './assets.ts';
import { loadCatalogues } from './catalogues.ts';
import { askerView } from './controller-view.ts';
import { answeredView, childView, errorView, finalView } from './final-view.ts';
import { formLabels } from './form-labels.ts';
import { formView } from './form-view.ts';
import { hostView } from './host-view.ts';
import { mailView } from './mail-view.ts';
import { problemView } from './problem-view.ts';
import { createReader, type Reader } from './reader.ts';
import { receiptView } from './receipt-view.ts';
import { createRichText, type RichText } from './rich-text-tree.ts';
import { isLanguageTag } from './text-direction.ts';
import { welcomeView } from './welcome-view.ts';

/** Renders page models; the only place in the product that makes HTML. */
export interface PageRenderer {
  render(model: PageModel): string;
  /** The words of a form's page around its content. */
  label(page: FormPage): FormLabels;
  /** Languages that have a catalogue. */
  languages: string[];
}

interface Parts {
  assets: Assets;
  /** The allow-list sanitiser of rich text. */
  sanitiseRichText: (html: string) => string;
}

const templateFiles = [
  'form',
  'answered',
  'final',
  'child',
  'error',
  'receipt',
  'mail',
  'welcome',
  'host',
  'problem',
  'api',
] as const;
type TemplateName = (typeof templateFiles)[number];

const templateOf = (page: PageModel['page']): TemplateName =>
  page === 'submitted' ||
  page === 'committed' ||
  page === 'cancelled' ||
  page === 'timeout' ||
  page === 'rolledback'
    ? 'final'
    : page;

/** Pages for developers, whose texts are English as the contract is. */
const englishOnly = new Set<PageModel['page']>(['problem', 'api']);

export function createPageRenderer({ assets, sanitiseRichText }: Parts): PageRenderer {
  const catalogues = loadCatalogues();
  const templates = loadTemplates(new URL('../views/', import.meta.url), templateFiles);
  const rich = createRichText(sanitiseRichText);
  const readers = new LRUCache<string, Reader>({ max: 100 });

  /** Formatters are costly to make, and there are as many readers as languages that people ask for. */
  function readerFor(language: string, timeZone: string): Reader {
    const catalogue = catalogues.pick(language);
    const variant = isLanguageTag(language) && language.toLowerCase().startsWith(`${catalogue.language}-`);
    const region = variant ? language : catalogue.language;
    const key = `${region} ${timeZone}`;
    const known = readers.get(key);
    if (known) return known;
    const reader = createReader(catalogue, timeZone, region);
    readers.set(key, reader);
    return reader;
  }

  return {
    languages: catalogues.languages,
    render(model) {
      const language = englishOnly.has(model.page) ? 'en' : model.language;
      const reader = readerFor(language, model.instance.timeZone);
      const template = templates[templateOf(model.page)];
      const colorScheme = usedColorScheme(model);
      const view = viewOf(model, reader, rich);
      const asker = askerView(model, reader);
      return template({ model, reader, t: reader.t, asset: assets.url, colorScheme, view, asker });
    },
    label: (page) => formLabels(page, readerFor(page.language, page.instance.timeZone), rich),
  };
}

const contractViews = new WeakMap<object, ReturnType<typeof apiView>>();

/** The contract does not change while the process runs; reading it through takes longer than showing it. */
function contractView(document: Record<string, unknown>, rich: RichText) {
  const view = contractViews.get(document) ?? apiView(document, rich);
  contractViews.set(document, view);
  return view;
}

/** What a template shows beside its model: everything that takes a decision, so that templates take none. */
function viewOf(model: PageModel, reader: Reader, rich: RichText): unknown {
  switch (model.page) {
    case 'form':
      return formView(model, reader, rich);
    case 'answered':
      return answeredView(model, reader);
    case 'child':
      return childView(model, reader);
    case 'error':
      return errorView(model, reader);
    case 'receipt':
      return receiptView(model, reader, rich);
    case 'mail':
      return mailView(model, reader, rich);
    case 'welcome':
      return welcomeView(model, reader);
    case 'problem':
      return problemView(model);
    case 'host':
      return hostView(model);
    case 'api':
      return contractView(model.document, rich);
    default:
      return finalView(model, reader);
  }
}
