import type { FormElement, FormInformation, FormLayout } from '#lib/contracts/form-content.ts';
import type { DescribedPeer, FormsOperations } from '#lib/contracts/forms.ts';
import type { PageTheme } from '#lib/contracts/page-base.ts';
import { type Fault, fail, movePointers } from '#lib/errors/fail.ts';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';
import { demoModels } from '../demo/models.ts';
import { isGap, readContent } from '../domain/check-content.ts';
import { fillGaps } from '../domain/content/fill-gaps.ts';
import {
  type ContentVersion,
  createContentVersion,
  type DescribedItem,
  pageTheme,
  presentPeer,
} from '../domain/content-version.ts';
import { formatSerial } from '../domain/identifiers.ts';
import { messageKindOf } from '../domain/message-keys.ts';
import { contentIn, type Entry, type Version } from '../domain/model.ts';
import type { FormModel, MailPage } from '../pages/page-model.ts';

/** The options of a preview. */
export interface PreviewRequest {
  language?: string;
  orientation?: string;
  /** Content in that language, shown instead of the stored content. */
  data?: unknown;
}

interface Parts {
  operations: Pick<FormsOperations, 'resolveLayout' | 'describeForm'>;
  instance: Instance;
  /** Whether mails are sent. */
  hasMail: () => Promise<boolean>;
}

/** A version as it would be shown if it were ACTIVE. */
interface Preview {
  version: ContentVersion;
  language: string;
  /** JSON pointer of the content: in the request, or in the stored version. */
  at: string;
  orientation: 'VERTICAL' | 'HORIZONTAL';
}

/**
 * The page of a preview: one element, an information, a layout's form, a theme's sample or a mail.
 * @throws Failure `invalid` with every fault.
 */
export async function previewPage(
  entry: Entry,
  stored: Version,
  request: PreviewRequest,
  parts: Parts,
): Promise<FormModel | MailPage> {
  const preview = await readPreview(entry, stored, request);
  const { version, language } = preview;
  switch (version.type) {
    case 'email':
      return mailPage(preview, parts);
    case 'layout':
      return layoutPage(preview, parts);
    case 'theme':
      return formPage(preview, parts, {
        elements: sampleElements(language),
        theme: pageTheme(version, language),
      });
    case 'information':
      return formPage(preview, parts, { info: version.describe(language, entry.name) });
    default:
      return formPage(preview, parts, { elements: [version.describe(language, entry.name)] });
  }
}

async function readPreview(entry: Entry, version: Version, request: PreviewRequest): Promise<Preview> {
  const found: Fault[] = [];
  const language = request.language || version.defaultLanguage;
  const orientation = request.orientation || 'VERTICAL';
  const stored = Object.hasOwn(version.data, language) ? version.data[language] : undefined;
  const given =
    request.data === undefined ? stored : await readContent(entry.type, request.data, '/data', found);
  const content = given && fillGaps(entry.type, given);
  const faults = found.filter((fault) => !isGap(fault));
  if (canonicalLanguageTag(language) === undefined || (!content && faults.length === 0))
    faults.push({ pointer: '/language', code: 'invalid', detail: 'must be a language of the content' });
  if (orientation !== 'VERTICAL' && orientation !== 'HORIZONTAL')
    faults.push({ pointer: '/orientation', code: 'invalid', detail: 'must be VERTICAL or HORIZONTAL' });
  if (faults.length > 0) throw fail('invalid', 'The preview cannot be shown.', { errors: faults });
  const { id, major, minor } = version;
  return {
    language,
    at: request.data === undefined ? `/data/${language}` : '/data',
    orientation: orientation as Preview['orientation'],
    version: createContentVersion({
      id,
      type: entry.type,
      key: entry.key,
      // A draft has no serial; its style sheet is found by its id.
      serial: major === null || minor === null ? id : formatSerial({ major, minor }),
      defaultLanguage: language,
      data: { [language]: content ?? {} },
    }),
  };
}

interface Shown {
  info?: DescribedItem;
  elements?: DescribedItem[];
  peers?: DescribedPeer[];
  theme?: PageTheme | null;
  layout?: Partial<FormLayout>;
}

function formPage(
  { language, orientation }: Preview,
  { instance }: Parts,
  { info, elements = [], peers = [], theme = null, layout }: Shown,
): FormModel {
  return {
    page: 'form',
    language,
    instance,
    theme,
    form: {
      language,
      languages: [],
      info: info ? ({ ...info, previous: null } as FormInformation) : null,
      elements: elements.map((element) => ({ ...element, previous: null }) as FormElement),
      peers: peers.map(presentPeer),
      layout: {
        orientation,
        existingElementsVisible: true,
        validityVisible: true,
        acceptAllVisible: false,
        cancelVisible: false,
        footerOnTop: false,
        includeIFrameResizer: false,
        ...layout,
      },
    },
    hidden: [],
    listsHidden: false,
    now: new Date().toISOString(),
    updatable: true,
    peersOptional: false,
  };
}

async function layoutPage(preview: Preview, parts: Parts): Promise<FormModel> {
  const { version, language } = preview;
  const { elements: named = [] } = version.data[language] as { elements?: string[] };
  if (named.length === 0) return formPage(preview, parts, { elements: [missingElement(version, language)] });
  const layoutData = version.data[language];
  const { layout, context } = await movePointers(
    (pointer) => pointer.replace(/^\/layoutData/, () => preview.at),
    () => parts.operations.resolveLayout({ layoutData }),
  );
  const { info, elements, peers, theme, texts } = await parts.operations.describeForm({
    layout,
    languages: [language],
  });
  const { orientation, acceptAllVisible, cancelVisible, footerOnTop, validityVisible } = layout;
  const shown = { orientation, acceptAllVisible, cancelVisible, footerOnTop, validityVisible, ...texts };
  const { validity } = context ?? {};
  return {
    ...formPage(preview, parts, { info, elements, peers, theme, layout: shown }),
    ...(validity && { validity }),
  };
}

/** Stands in the preview of a layout that names no element yet. */
function missingElement({ id, key }: ContentVersion, language: string): DescribedItem {
  const data = { [language]: fillGaps('processing', {}) };
  const stored = { id, key, type: 'processing' as const, serial: id, defaultLanguage: language, data };
  return createContentVersion(stored).describe(language, key);
}

async function mailPage({ version, language }: Preview, parts: Parts): Promise<MailPage> {
  const mail = contentIn<MailPage['mail']>(version.data, language);
  const kind = messageKindOf(version.key);
  const { instance } = parts;
  const from = (await parts.hasMail()) ? instance.mailFrom : null;
  return { page: 'mail', kind, language, instance, theme: null, lang: language, from, mail };
}

/** Sample elements for a theme. */
function sampleElements(language: string): DescribedItem[] {
  const samples = demoModels().filter(({ key }) => key === 'processing.001' || key === 'preference.001');
  return samples.map(({ type, key, name, data }) => {
    const sample = createContentVersion({ id: key, type, key, serial: '1.0', defaultLanguage: 'en', data });
    return sample.describe(language, name);
  });
}
