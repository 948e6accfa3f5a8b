import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { richTextRules } from '#lib/contracts/rich-text.ts';
import { sanitiseRichText } from '../../services/forms/domain/rich-text.ts';
import { createRichText, type RichNode } from '../../services/forms/pages/rich-text-tree.ts';

/** Without the sanitiser: what these trees keep out, they keep out alone. */
const rich = createRichText();
const shown = new Set([...richTextRules.blocks, ...richTextRules.inline]);
const outline = (nodes: RichNode[]): unknown[] =>
  nodes.map((node) => ('tag' in node ? [node.tag, ...outline(node.children)] : node.text));

function everyNode(nodes: RichNode[]): RichNode[] {
  return nodes.flatMap((node) => ('tag' in node ? [node, ...everyNode(node.children)] : [node]));
}

describe('rich text', () => {
  it('keeps paragraphs, lists, emphasis and links', () => {
    const [list, paragraph] = rich(
      '<ul><li><b>one</b></li></ul><p>see <a href="https://a.example/">a</a></p>',
    );
    expect(outline([list as RichNode])).toEqual([['ul', ['li', ['strong', 'one']]]]);
    expect(paragraph).toMatchObject({
      children: [{ text: 'see ' }, { attributes: { href: 'https://a.example/' } }],
    });
  });

  it('reads plain text with its paragraphs and line breaks', () => {
    expect(outline(rich('one\ntwo\n\nthree & four'))).toEqual([
      ['p', 'one', ['br'], 'two'],
      ['p', 'three & four'],
    ]);
  });

  it('puts loose text into paragraphs', () => {
    expect(outline(rich('a <em>b</em><ul><li>c</li></ul>d'))).toEqual([
      ['p', 'a ', ['em', 'b']],
      ['ul', ['li', 'c']],
      ['p', 'd'],
    ]);
  });

  it('continues the outline of the page with its headings', () => {
    expect(outline(rich('<h1>a</h1><h4>b</h4><h1>c</h1>', 3))).toEqual([
      ['h3', 'a'],
      ['h4', 'b'],
      ['h3', 'c'],
    ]);
  });

  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<p style="position:fixed" onclick="x()" class="primary" id="choices">x</p>',
    '<a href="javascript:alert(1)">x</a>',
    '<form action="https://evil.example"><input name="info"><button>x</button></form>',
    '<iframe src="https://evil.example"></iframe><object data="x"></object><svg><script>1</script></svg>',
    '<base href="https://evil.example"><meta http-equiv="refresh" content="0"><link rel="stylesheet" href="x">',
  ])('shows nothing of %s but its text', (html) => {
    for (const node of everyNode(rich(html))) {
      if (!('tag' in node)) continue;
      expect(['p', 'a', 'span']).toContain(node.tag);
      expect(Object.keys(node.attributes).filter((name) => !['lang', 'dir'].includes(name))).toEqual([]);
    }
  });

  it('never fails, however broken the markup is, and has only tags that may be shown, sanitised or not', async () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '<p>',
        '</p>',
        '<ul><li>',
        '<div',
        '<a href="',
        '">',
        '<table><tr>',
        '<!--',
        '&',
        '<h2>',
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const html = pieces.join('');
        for (const node of [...everyNode(rich(html)), ...everyNode(rich(await sanitiseRichText(html)))])
          if ('tag' in node) expect(shown.has(node.tag)).toBe(true);
      }),
    );
  });
});
