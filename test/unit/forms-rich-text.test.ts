import fc from 'fast-check';
import { Parser } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import type { Fault } from '#lib/errors/fail.ts';
import { rich } from '../../services/forms/domain/content/fields.ts';
import { sanitiseMailText, sanitiseRichText } from '../../services/forms/domain/rich-text.ts';

describe('sanitising the rich text of a mail', () => {
  it.each(['{link}', 'https://example.org/'])('keeps a link to %s', async (href) => {
    expect(await sanitiseMailText(`<a href="${href}">x</a>`)).toBe(`<a href="${href}">x</a>`);
  });

  it.each(['{code}', 'x{link}', '{link}/x', '//{link}', '/consents', 'javascript:{link}'])(
    'removes a link to %s',
    async (href) => {
      expect(await sanitiseMailText(`<a href="${href}">x</a>`)).toBe('<a>x</a>');
    },
  );

  it('is the only case in which a link may be a placeholder', async () => {
    expect(await sanitiseRichText('<a href="{link}">x</a>')).toBe('<a>x</a>');
  });
});

describe('sanitising rich text', () => {
  it.each([
    ['<p>Hello <strong>you</strong></p>', '<p>Hello <strong>you</strong></p>'],
    ['<p onclick="x()" class="a" id="b" style="c">x</p>', '<p>x</p>'],
    ['<script>alert(1)</script>x', 'x'],
    ['<style>p { color: red }</style>x', 'x'],
    ['<img src=x onerror=alert(1)>', ''],
    ['<a href="javascript:alert(1)">x</a>', '<a>x</a>'],
    ['<a href="java\nscript:alert(1)">x</a>', '<a>x</a>'],
    ['<a href="data:text/html,x">x</a>', '<a>x</a>'],
    ['<a href="//evil.example">x</a>', '<a>x</a>'],
    ['<a href="/consents">x</a>', '<a>x</a>'],
    ['<a href="https://user:pass@example.org/">x</a>', '<a>x</a>'],
    [
      '<a href="https://example.org/a?b=1&amp;c" target="_top">x</a>',
      '<a href="https://example.org/a?b=1&amp;c">x</a>',
    ],
    ['<a href="mailto:a@example.org">x</a>', '<a href="mailto:a@example.org">x</a>'],
    ['<p lang="ar" dir="rtl">x</p>', '<p lang="ar" dir="rtl">x</p>'],
    ['<svg><a href="https://example.org">x</a></svg>', '<a href="https://example.org/">x</a>'],
    ['a < b & c', 'a &lt; b &amp; c'],
    ['<form action="/x"><input></form>', ''],
    ['<iframe src="x"></iframe><object></object>', ''],
    ['<p <script><math><p <script>', '<p></p><p></p><p></p>'],
  ])('turns %j into %j', async (given, wanted) => expect(await sanitiseRichText(given)).toBe(wanted));

  it('keeps only allowed tags and attributes, and is idempotent', async () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('<', '>', '"', "'", '</', '<!--', '-->', '<![CDATA[', '&lt;', '&#x6a;'),
      fc.constantFrom(
        '<script>',
        '<p ',
        'onload=',
        '<a href=',
        'javascript:',
        '<svg>',
        '<math>',
        '<template>',
        '<b>',
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
        const clean = await sanitiseRichText(pieces.join(''));
        new Parser({
          onopentag(name, attributes) {
            expect(name).not.toMatch(/^(script|style|svg|math|template|img|iframe|form|input|object)$/);
            for (const each of Object.keys(attributes)) expect(['lang', 'dir', 'href']).toContain(each);
            if (attributes.href) expect(attributes.href).toMatch(/^(https?|mailto):/);
          },
        }).end(clean);
        expect(await sanitiseRichText(clean)).toBe(clean);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a rich text', () => {
  const faultOf = async (html: string) => {
    const faults: Fault[] = [];
    await rich(html, '/body', faults);
    return faults.map(({ code }) => code);
  };

  it.each([
    ['<b>'.repeat(5_001), ['too-long']],
    ['<p>a</p>'.repeat(2_500), []],
    ['a\n'.repeat(5_010), ['too-long']],
    ['a line of text\n'.repeat(4_900), []],
    // Stored with its end tags.
    [`<ul>${'<li>a'.repeat(2_600)}`, ['too-long']],
    // Shown in each paragraph: 30 times 2,000.
    [`${'<b>'.repeat(30)}${'<p>a</p>'.repeat(2_000)}`, ['too-long']],
    [`${'<span lang="fr"><i>'.repeat(10)}<ul>${'<li>a'.repeat(2_000)}`, ['too-long']],
    [`<b>${'<p>a</p>'.repeat(1_600)}</b>`, []],
    [`${'<p><b><i>a</i></b></p>'.repeat(800)}`, []],
  ])('has at most 5,000 tags or lines, as it is written and as it is shown: %#', async (html, codes) => {
    expect(await faultOf(html)).toEqual(codes);
  });
});
