import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { richTextRules } from '#lib/contracts/rich-text.ts';
import { sanitiseRichText } from '../../services/forms/domain/rich-text.ts';
import { createTypesetter } from '../../services/forms/pdf/typesetter.ts';
import { compileTypesetter } from '../../services/forms/pdf/typesetter-program.ts';
import { pdfJob, sampleReceiptPage } from '../support/pages/pdf-jobs.ts';
import { elementsOf, readPdf } from '../support/pages/read-pdf.ts';

const typesetter = await createTypesetter(await compileTypesetter());

/** The PDF of a receipt whose information has this rich text, as it is stored. */
async function render(html: string): Promise<Uint8Array> {
  const { unanswered, peers, ...receipt } = sampleReceiptPage('en').receipt;
  const texts = { title: 'Terms', header: await sanitiseRichText(html) };
  const information = { ...receipt.information, texts };
  const page = { ...sampleReceiptPage('en'), receipt: { ...receipt, information, consents: [] } };
  return typesetter.render(pdfJob(page));
}

const nested = (tags: string, times: number) =>
  `${tags
    .split(' ')
    .map((tag) => `<${tag}>`)
    .join('')
    .repeat(times)}deepest`;

describe('rich text on a PDF receipt', () => {
  it.each([
    'blockquote',
    'ul li',
    'ol li',
    'table tr td',
    'dl dd',
    'dl dd blockquote ol li table tr td',
    'b i u s sub sup code span',
    'blockquote b',
  ])('is printed whole, however deep it is nested: %s', async (tags) => {
    for (const times of [2, 8, 16, 32])
      expect((await readPdf(await render(nested(tags, times)))).text).toContain('deepest');
  });

  it('has the numbers of its clauses, as labels of list items', async () => {
    const html =
      '<ol start="3" type="a"><li>Clause</li><li value="9">Nine</li></ol><ol reversed><li>x</li><li>y</li></ol>';
    const { text, structure } = await readPdf(await render(html));
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(/c\. Clause i\. Nine 2\. x 1\. y/);
    expect(elementsOf(structure).map(({ role }) => role)).toEqual(
      expect.arrayContaining(['L', 'LI', 'Lbl', 'LBody']),
    );
  });

  it('has cells that are joined, captions, and text beside cells and items', async () => {
    const html =
      '<table>loose<caption>Fees</caption><tr><th colspan="2">Both</th></tr><tr><td rowspan="9">1</td><td>2</td></tr></table><ul>before<li>x</li>after</ul><dl>around<dt>a<dd>b</dl>';
    const { text } = await readPdf(await render(html));
    for (const word of ['loose', 'Fees', 'Both', 'before', 'after', 'around']) expect(text).toContain(word);
  });

  it.each(['😀', 'كلمة', '漢', `word ${'W'.repeat(33)}`, '<b>漢</b>'])(
    'has links that end in a soft hyphen: %s',
    async (text) => {
      const link = `<a href="https://a.example/">${text}\u00ad`;
      for (const html of [link, `${link}</a>word`, `<ul><li>${link}</a>${text}</ul>`])
        await expect(render(html)).resolves.toBeDefined();
    },
  );

  it('can be any that is stored', { timeout: 120_000 }, async () => {
    const tag = fc.constantFrom(...richTextRules.blocks, ...richTextRules.inline);
    const attributes = fc.constantFrom(
      '',
      ' dir="rtl"',
      ' lang="ar"',
      ' colspan="3"',
      ' rowspan="2"',
      ' start="-3" type="i"',
      ' value="7"',
    );
    const piece = fc.oneof(
      fc.tuple(tag, attributes).map(([name, given]) => `<${name}${given}>`),
      tag.map((name) => `</${name}>`),
      fc.constantFrom(
        'word',
        ' ',
        'كلمة',
        '😀',
        '\u00ad',
        '\u2067',
        '<a href="https://a.example/">',
        '漢',
        'W'.repeat(80),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        await expect(render(pieces.join(''))).resolves.toBeDefined();
      }),
      { numRuns: 60 },
    );
  });
});
