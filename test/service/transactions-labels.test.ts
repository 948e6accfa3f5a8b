import { DomUtils, parseDocument } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';

type Form = components['schemas']['Form'];
type Transaction = components['schemas']['Transaction'];

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

const create = async (context: object) =>
  (await createTransaction(shop, { ...context })) as unknown as Transaction;
const formOf = async ({ links }: Transaction, language = 'en') =>
  (await (
    await instance.fetch(links.form ?? '', { headers: { 'Accept-Language': language } })
  ).json()) as Form;

/** Every text of a page's main part and of its attributes that are read out, without the signs around it. */
function textsOf(html: string): string[] {
  const [main] = DomUtils.getElementsByTagName('main', parseDocument(html));
  const texts: string[] = [];
  const walk = (nodes: ReturnType<typeof parseDocument>['children']) => {
    for (const node of nodes) {
      if (node.type === 'text') texts.push(...node.data.split('\n'));
      // The list of languages leads to other pages; a JSON client asks for a language.
      const isList = 'attribs' in node && /\blanguages\b/.test(node.attribs.class ?? '');
      if ('children' in node && !isList) walk(node.children);
    }
  };
  walk(main?.children ?? []);
  return texts.map((text) => text.replace(/^[\s(–]+|[\s)]+$/g, '')).filter(Boolean);
}

function leavesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}

const everything = {
  elements: [
    'processing.001',
    'processing.002',
    'processing.003',
    'preference.001',
    'preference.002',
    'preference.003',
  ],
  info: 'information.001',
  acceptAllVisible: true,
  cancelVisible: true,
};

describe('the labels of a form as JSON', () => {
  it.each(['en', 'fr', 'ar'])('have every text of the page in %s', async (language) => {
    const subject = `words in ${language}`;
    await recordAnswers(shop, subject, { 'element/processing/processing.001/1.0': ['refused'] });
    for (const layoutData of [everything, { elements: ['conditions.001'] }]) {
      const made = await create({ subject, layoutData, cancellable: true });
      const headers = { Accept: 'text/html', 'Accept-Language': language };
      const page = await (await instance.fetch(made.links.form ?? '', { headers })).text();
      const form = await formOf(made, language);
      expect(form.labels.lang).toBe(language);
      const known = leavesOf(form).map((text) => text.replaceAll(/\s+/g, ' '));
      const missing = textsOf(page).filter(
        (text) => !known.some((leaf) => leaf.includes(text.replaceAll(/\s+/g, ' '))),
      );
      expect(missing).toEqual([]);
    }
  });

  it('name answers, purposes and legal bases by the codes that the content has', async () => {
    const form = await formOf(await create({ layoutData: everything }));
    const { labels, elements } = form;
    expect(labels).toMatchObject({ accept: 'Accept', refuse: 'Refuse', rights: { title: 'Your rights' } });
    const codes = elements.flatMap(({ content }) =>
      'purposes' in content ? [...(content.purposes ?? []), ...(content.legalBases ?? [])] : [],
    );
    expect(codes.length).toBeGreaterThan(0);
    const words: Record<string, string> = { ...labels.purposes, ...labels.legalBases };
    for (const code of codes) expect(words[code], code).toMatch(/^[A-Z][a-z’ ]+$/);
    expect(Object.keys(labels.elements)).toEqual(elements.map(({ identifier }) => identifier));
    expect(labels.elements['element/processing/processing.001/1.0']?.answers).toEqual({
      accepted: 'Accept',
      refused: 'Refuse',
    });
  });

  it('offer only what the layout offers, in the words of the layout', async () => {
    const elements = ['processing.001'];
    const plain = await formOf(await create({ layoutData: { elements } }));
    expect(plain.labels).not.toHaveProperty('acceptAll');
    expect(plain.labels).not.toHaveProperty('cancel');
    const own = await formOf(
      await create({
        layoutData: {
          elements,
          acceptAllVisible: true,
          acceptAllText: 'Take all',
          refuseAllText: 'Take none',
          submitText: 'Done',
        },
      }),
    );
    expect(own.labels).toMatchObject({ acceptAll: 'Take all', refuseAll: 'Take none', submit: 'Done' });
    const silent = await formOf(await create({ layoutData: { elements, validityVisible: false } }));
    expect(silent.labels).not.toHaveProperty('validity');
  });

  it('are present if all elements have been answered', async () => {
    const subject = 'nothing left to ask';
    await recordAnswers(shop, subject, { 'element/processing/processing.001/1.0': ['accepted'] });
    const layoutData = { elements: ['processing.001'], existingElementsVisible: false };
    const form = await formOf(await create({ subject, layoutData }));
    expect(form.elements).toEqual([]);
    expect(form.labels).toMatchObject({ submit: 'Send my choices', elements: {} });
  });
});
