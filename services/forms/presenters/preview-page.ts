import type { FormElement, FormInformation, FormLayout } from '#lib/contracts/form-content.ts';
import type { DescribedPeer, FormsOperations } from '#lib/contracts/forms.ts';
import type { PageInstance, PageTheme } from '#lib/contracts/page-base.ts';
import type { FormPage, MailPage } from '#lib/contracts/pages.ts';
import { demoModel } from '../demo/models.ts';
import { createContentVersion, type DescribedItem, pageTheme } from '../domain/content-version.ts';
import type { Preview } from '../domain/read-preview.ts';

interface Parts {
  operations: Pick<FormsOperations, 'resolveLayout' | 'describeForm'>;
  instance: PageInstance;
}

/** The page of a preview: one element, an information, a layout's form, a theme's sample or a mail. */
export async function previewPage(preview: Preview, parts: Parts): Promise<FormPage | MailPage> {
  const { version, entry, language } = preview;
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
): FormPage {
  const withoutAnswer = (item: DescribedItem) => ({ ...item, previous: null });
  return {
    page: 'form',
    language,
    instance,
    theme,
    embedding: null,
    info: info ? (withoutAnswer(info) as FormInformation) : null,
    elements: elements.map(withoutAnswer) as FormElement[],
    peers: peers.map((peer) => ({
      ...peer,
      info: peer.info && (withoutAnswer(peer.info) as FormInformation),
      elements: peer.elements.map(withoutAnswer) as FormElement[],
    })),
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
    actions: null,
    values: {},
    faults: [],
    changed: [],
    comment: null,
    validity: 'P6M',
    expires: null,
    updatable: true,
    isChild: false,
  };
}

async function layoutPage(preview: Preview, parts: Parts): Promise<FormPage> {
  const { version, language } = preview;
  const { layout } = await parts.operations.resolveLayout({ layoutData: version.data[language] });
  const { info, elements, peers, theme, texts } = await parts.operations.describeForm({
    layout,
    languages: [language],
  });
  const { orientation, acceptAllVisible, cancelVisible, footerOnTop } = layout;
  const shown = { orientation, acceptAllVisible, cancelVisible, footerOnTop, ...texts };
  return formPage(preview, parts, { info, elements, peers, theme, layout: shown });
}

function mailPage({ version, language }: Preview, { instance }: Parts): MailPage {
  const mail = version.data[language] as unknown as MailPage['mail'];
  return { page: 'mail', language, instance, theme: null, embedding: null, lang: language, mail };
}

/** Sample elements for a theme. */
function sampleElements(language: string): DescribedItem[] {
  return ['processing.001', 'preference.001'].map(demoModel).map(({ type, key, name, data }) => {
    const sample = createContentVersion({ id: key, type, key, serial: '1.0', defaultLanguage: 'en', data });
    return sample.describe(language, name);
  });
}
