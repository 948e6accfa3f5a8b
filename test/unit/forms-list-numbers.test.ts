import { describe, expect, it } from 'vitest';
import { withoutDirectionControls } from '#lib/text/direction-controls.ts';
import { rich } from '../../services/forms/domain/content/fields.ts';
import { listMarkers } from '../../services/forms/domain/list-markers.ts';
import { sanitiseRichText } from '../../services/forms/domain/rich-text.ts';
import { pageText } from '../../services/forms/pages/page-text.ts';
import { plainText } from '../../services/forms/pages/rich-plain-text.ts';
import { createRichText } from '../../services/forms/pages/rich-text-tree.ts';

const tree = createRichText();
const clauses = '<ol start="3" type="a"><li>Clause</li><li value="28">Another</li></ol>';

describe('the numbers of clauses', () => {
  it.each([
    clauses,
    '<ol reversed><li>Two</li><li>One</li></ol>',
    '<ol><li type="I">One</li></ol>',
    '<table><caption>Fees</caption><tr><td colspan="2">1</td></tr><tfoot><tr><th rowspan="2">2</th></tr></tfoot></table>',
    '<p><del>old</del><ins>new</ins><strike>gone</strike><q>said</q></p>',
  ])('and other markup with a meaning are stored as they are: %s', async (html) => {
    expect(await rich(html, '', [])).toBe(html);
  });

  it.each([
    ['<ol start="x" type="z" compact class="a"><li value="">a</li></ol>', '<ol><li>a</li></ol>'],
    ['<ol start=" +3px"><li>a</li></ol>', '<ol start="3"><li>a</li></ol>'],
    ['<p start="3" value="1" type="a">a</p>', '<p>a</p>'],
  ])('lose what means nothing: %s', async (html, stored) => {
    expect(await sanitiseRichText(html)).toBe(stored);
  });

  it.each(['<ol start="1000000">', '<li value="-1000000">', '<td colspan="101">', '<th rowspan="0">'])(
    'are a fault if they are out of range: %s',
    async (html) => {
      const faults: { pointer: string }[] = [];
      await rich(`${html}x`, '/data/en/body', faults as never);
      expect(faults).toMatchObject([{ pointer: '/data/en/body', code: 'invalid' }]);
    },
  );

  it.each([
    [{}, [{}, {}], ['1.', '2.']],
    [{ start: '3', type: 'a' }, [{}, { value: '28' }, {}], ['c.', 'ab.', 'ac.']],
    [{ reversed: '' }, [{}, {}, {}], ['3.', '2.', '1.']],
    [{ type: 'I', start: '1994' }, [{}, { type: '1' }], ['MCMXCIV.', '1995.']],
    [{ type: 'i', start: '4000' }, [{}], ['4000.']],
    [{ type: 'A', start: '-1' }, [{}, {}, {}], ['-1.', '0.', 'A.']],
  ])('are those of browsers: %j %j', (list, items, markers) => {
    expect(listMarkers(list, items)).toEqual(markers);
  });

  it('stand in every kind of plain text', async () => {
    expect(plainText(tree(clauses))).toBe('c. Clause\nab. Another');
    expect(await pageText(`<main>${clauses}</main>`)).toMatch(/^ c\. {2}Clause\n ab\. Another\n/);
  });
});

describe('plain text', () => {
  const html =
    '<p>We may <s>not</s> sell 10<sup>2</sup></p><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>';

  it('says what is struck out, raised, and in which column', async () => {
    const lines = ['We may ~~not~~ sell 10^2', 'A | B', '1 | 2'];
    expect(plainText(tree(html)).split('\n')).toEqual(lines);
    for (const line of lines) expect(await pageText(`<main>${html}</main>`)).toContain(`${line}\n`);
  });

  it('has no characters that change the order of others', async () => {
    const receipt = {
      html: '<main><h1>a\u202eb</h1><p>\u2067c\u2069\u2066d \u202ae&#x202c;\u200f</p></main>',
    };
    const text = await pageText(withoutDirectionControls(receipt).html);
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });
});
