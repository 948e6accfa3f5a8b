import type { ModelType } from '../model.ts';

/** What a preview shows instead of a text that is missing. */
const gap = '…';

const requiredTexts: Record<ModelType, readonly string[]> = {
  information: ['title'],
  processing: ['title', 'data', 'usage'],
  preference: ['label'],
  conditions: ['title', 'body'],
  email: ['subject', 'body'],
  theme: ['name'],
  layout: [],
};

type Content = Record<string, unknown>;

/** Content of a draft in one language as previews show it: complete, with "…" for what is missing. */
export function fillGaps(type: ModelType, content: Content): Content {
  const missing = requiredTexts[type].filter((name) => content[name] === undefined);
  const filled = { ...content, ...Object.fromEntries(missing.map((name) => [name, gap])) };
  if (type === 'processing') return fillProcessing(filled);
  if (type === 'preference') return fillPreference(filled);
  if (type === 'layout')
    return { ...filled, elements: textsOf(content.elements).filter((key) => key !== '') };
  return filled;
}

function fillProcessing({ retention, thirdParties, ...rest }: Content): Content {
  const hasRetention = Object.keys((retention ?? {}) as Content).length > 0;
  const named = (thirdParties as Content[] | undefined)?.map((each) => ({ name: gap, ...each }));
  return {
    ...rest,
    retention: hasRetention ? retention : { fullText: gap },
    ...(named && { thirdParties: named }),
  };
}

function fillPreference({ valueType = 'RADIO_BUTTONS', options, ...rest }: Content): Content {
  if (valueType === 'FREE_TEXT') return { ...rest, valueType };
  const texts = textsOf(options).map((option) => option || gap);
  const fewest = valueType === 'TOGGLE' ? 2 : 1;
  while (texts.length < fewest) texts.push(gap);
  return { ...rest, valueType, options: texts };
}

function textsOf(list: unknown): string[] {
  return (list ?? []) as string[];
}
