import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type FileObject, fileOfModel, modelOfFile, placesOf } from '#lib/models/model-file.ts';
import { inApplyOrder, planDigest } from '#lib/models/plan-steps.ts';
import { isSame } from '#lib/models/proposed-type.ts';
import { readFolder, renderMarkdown } from '#lib/models/read-folder.ts';
import { sanitiseRichText } from '../../services/forms/domain/rich-text.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const text = fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' });
const content = fc.record(
  {
    title: text,
    header: fc.string({ minLength: 1, maxLength: 400 }),
    purposes: fc.array(text, { maxLength: 2 }),
    thirdParties: fc.array(fc.record({ name: text }), { maxLength: 2 }),
    retention: fc.record({ value: fc.nat(), label: text }),
    refusable: fc.boolean(),
    other: text,
  },
  { requiredKeys: ['title'] },
);

describe('the file of a model', () => {
  it('says the same as the model, whatever its content', () => {
    const data = fc.dictionary(fc.constantFrom('en', 'fr', 'no', 'pt-BR'), content, { minKeys: 1 });
    fc.assert(
      fc.property(data, text, (given, name) => {
        const head = { key: 'letters', type: 'processing', name, defaultLanguage: 'en' };
        const { value, texts } = fileOfModel({ ...head, data: given }, 'letters');
        const read = parse(stringify(value)) as FileObject;
        const resolved = JSON.parse(
          JSON.stringify(read, (_, each) => (each?.file ? texts.get(each.file) : each)),
        ) as FileObject;
        expect(isSame(modelOfFile(resolved), { ...head, data: JSON.parse(JSON.stringify(given)) })).toBe(
          true,
        );
        expect(Object.keys(read.texts as object).toSorted()).toEqual(Object.keys(given).toSorted());
      }),
      { numRuns: 50 },
    );
  });

  it('puts what all languages share in one place, and texts in each language', () => {
    const en = { title: 'Letters', purposes: ['CONSENT_MARKETING'], retention: { value: 3, label: 'x' } };
    const data = { fr: { ...en, validity: 'P1Y' }, en };
    const model = { key: 'letters', type: 'processing', name: 'Letters', defaultLanguage: 'fr', data };
    expect(fileOfModel(model, 'letters').value).toEqual({
      key: 'letters',
      type: 'processing',
      name: 'Letters',
      defaultLanguage: 'fr',
      common: { retention: { value: 3 }, purposes: ['CONSENT_MARKETING'] },
      texts: {
        fr: { title: 'Letters', retention: { label: 'x' }, validity: 'P1Y' },
        en: { title: 'Letters', retention: { label: 'x' } },
      },
    });
  });

  it('has a fault of the API where the member is, in a language or in common', () => {
    expect(placesOf('/data/fr/retention/label')).toEqual([
      ['texts', 'fr', 'retention', 'label'],
      ['common', 'retention', 'label'],
    ]);
    expect(placesOf('/data/fr')).toEqual([['texts', 'fr']]);
    expect(placesOf('/change/reason')).toEqual([['change', 'reason']]);
  });

  it('may have Markdown, of which rich text keeps all that it knows', async () => {
    const html = renderMarkdown(
      '# Title\n\nA **bold** [link](https://a.example/).\n\n1. One\n2. Two\n\n> Said\n',
    );
    expect(await sanitiseRichText(html)).toBe(html);
    expect(await sanitiseRichText(renderMarkdown('<script>x</script>\n\nText'))).not.toContain('script');
  });
});

it('files of models that are not UTF-8 are named with their line, and not read', async () => {
  const root = await temporaryFolder();
  const broken = Buffer.from('# Caf\xe9\n', 'latin1');
  const model =
    'key: a\ntype: processing\nname: A\ndefaultLanguage: en\ntexts:\n  en: { title: { file: text.txt } }\n';
  await writeFile(path.join(root, 'a.yaml'), model);
  await writeFile(path.join(root, 'text.txt'), Buffer.concat([Buffer.from('Text\n'), broken]));
  await writeFile(path.join(root, 'b.yaml'), Buffer.concat([Buffer.from(model), broken]));
  const { faults, models } = await readFolder(root);
  expect(models.filter(({ file }) => file === 'b.yaml')).toEqual([]);
  expect(faults).toEqual([
    expect.objectContaining({
      file: 'a.yaml',
      member: 'texts.en.title',
      detail: 'text.txt, line 2: has bytes that are not UTF-8',
    }),
    { file: 'b.yaml', line: 7, detail: 'has bytes that are not UTF-8' },
  ]);
});

describe('the steps of a plan', () => {
  const types = ['information', 'theme', 'email', 'processing', 'preference', 'conditions', 'layout'];
  const step = fc.record({
    key: fc.string(),
    type: fc.constantFrom(...types),
    change: fc.constantFrom(
      'CREATED' as const,
      'CHANGED' as const,
      'UNCHANGED' as const,
      'ARCHIVED' as const,
    ),
    digest: fc.string(),
  });

  it('have one digest in any order, which what stays the same does not change', () => {
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const changing = steps.filter(({ change }) => change !== 'UNCHANGED');
        expect(planDigest(steps.toReversed())).toBe(planDigest(changing));
      }),
      { numRuns: 50 },
    );
  });

  it('create and change what forms name before the forms, and archive it after them', () => {
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const ordered = inApplyOrder(steps);
        const places = (isEnd: boolean, isForm: boolean) =>
          ordered.flatMap(({ change, type }, place) =>
            (change === 'ARCHIVED') === isEnd && (type === 'layout') === isForm ? [place] : [],
          );
        const last = (found: number[]) => found.at(-1) ?? -1;
        const first = (found: number[]) => found[0] ?? Number.POSITIVE_INFINITY;
        expect(last(places(false, false))).toBeLessThan(first(places(false, true)));
        expect(last(places(false, true))).toBeLessThan(first(places(true, true)));
        expect(last(places(true, true))).toBeLessThan(first(places(true, false)));
      }),
      { numRuns: 50 },
    );
  });
});
