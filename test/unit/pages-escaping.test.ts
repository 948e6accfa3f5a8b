import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PageModel } from '../../services/forms/pages/page-model.ts';
import { renderer } from '../support/pages/page-renderer.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { samplePages } from '../support/pages/sample-pages.ts';

const pages = samplePages('en');
// The reference page shows the contract, which is ours; it is long and would only slow this down.
const names = Object.keys(pages).filter((name) => name !== 'api');

/** Members that decide what a page shows rather than being shown, and rich text, which has its own test. */
const structural = new Set([
  ...[
    'page',
    'identify',
    'stage',
    'done',
    'outcome',
    'language',
    'languages',
    'lang',
    'type',
    'valueType',
    'orientation',
    'position',
    'unit',
    'decision',
    'fault',
    'field',
    'code',
    'state',
    'timeZone',
    'oldLanguage',
  ],
  ...[
    'identifier',
    'owner',
    'header',
    'footer',
    'body',
    'signature',
    'mediaType',
    'purposes',
    'legalBases',
    'title_',
  ],
  ...[
    'created',
    'at',
    'validUntil',
    'expires',
    'validity',
    'timestamp',
    'expirationTimestamp',
    'now',
    'resendAfter',
    'changed',
    'receiptUntil',
    'until',
    'given',
    'due',
    'since',
    'collectionMethod',
    'confirmation',
    'fault',
    'reason',
  ],
  ...[
    'privacyPolicyUrl',
    'shortNoticeLink',
    'updateUrl',
    'iframeOrigin',
    'callback',
    'returnUrl',
    'defaultValues',
  ],
]);

/** The same model with every text that a page shows replaced. */
function withTexts(value: unknown, change: (text: string) => string, key = ''): unknown {
  if (typeof value === 'string') return structural.has(key) || value === '' ? value : change(value);
  if (Array.isArray(value))
    return structural.has(key) ? value : value.map((item) => withTexts(item, change, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withTexts(member, change, name)]),
  );
}

const skeletonOf = (model: unknown) => parsePage(renderer.render(model as PageModel)).skeleton;

const hostile = fc.oneof(
  fc.constantFrom(
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onfocus='alert(1)' autofocus='",
    '</textarea><script>alert(1)</script>',
    '</title><script>alert(1)</script>',
    '<!--',
    ']]>',
    '{name}',
    '{count, plural, other {#}}',
    '#{process.exit()}',
    '!{process.exit()}',
    '&lt;script&gt;',
    '\u202e\u2066evil\u2069',
    'constructor',
    '__proto__',
  ),
  fc.string({ minLength: 1, unit: 'binary' }),
);

describe('a page', () => {
  it.each(names)('%s keeps its structure whatever the texts are', (name) => {
    const model = structuredClone(pages[name]);
    const expected = skeletonOf(withTexts(model, (text) => `x${text}`));
    fc.assert(
      fc.property(hostile, (text) => {
        expect(skeletonOf(withTexts(model, (original) => `${text}${original}`))).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  it.each(names)('%s has no script, style or handler of its own, and sends nothing elsewhere', (name) => {
    for (const { name: tag, attribs, children } of parsePage(renderer.render(pages[name] as PageModel))
      .elements) {
      expect(
        Object.keys(attribs).filter((attribute) => /^on|^style$/.test(attribute)),
        tag,
      ).toEqual([]);
      // The document of an export has its style sheet inside.
      if (name !== 'export') expect(tag).not.toBe('style');
      if (tag === 'script') {
        expect(children).toEqual([]);
        expect(attribs.src).toMatch(/^\/assets\//);
      }
      if (tag === 'link' || tag === 'img') expect(attribs.href ?? attribs.src).toMatch(/^\/assets\//);
      if (tag === 'a') expect(attribs.href).toMatch(/^(https?:|mailto:|\/|#)/);
    }
  });

  it('links only to web and mail addresses', () => {
    const form = structuredClone(pages.form) as Extract<PageModel, { page: 'form' }>;
    const content = form.form.info?.content ?? {};
    for (const url of [
      'javascript:alert(1)',
      ' java\nscript:alert(1)',
      'data:text/html,x',
      '//evil.example',
      'vbscript:x',
    ]) {
      Object.assign(content, {
        privacyPolicyUrl: url,
        shortNoticeLink: url,
        header: `<a href="${url}">x</a>`,
      });
      const committed = pages.committed as Extract<PageModel, { page: 'result' | 'child' }>;
      const final = { ...committed, transaction: { ...committed.transaction, callback: url } };
      for (const model of [form, final]) {
        const links = parsePage(renderer.render(model as PageModel)).tagged('a');
        expect(
          links
            .map(({ attribs }) => attribs.href ?? '')
            .filter((href) => !/^(https:|mailto:|#)|^$/.test(href)),
        ).toEqual([]);
      }
    }
  });
});
