import { describe, expect, it } from 'vitest';
import type { PageModel } from '../../services/forms/pages/page-model.ts';
import { assets, renderer } from '../support/pages/page-renderer.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { samplePages } from '../support/pages/sample-pages.ts';
import { sampleLanguages } from '../support/samples/sample-content.ts';

/** Bytes of a page and all that it fetches, not compressed. */
function weightOf(model: PageModel): number {
  const html = renderer.render(model);
  const urls = parsePage(html).elements.flatMap(({ name, attribs }) =>
    name === 'script' ? [attribs.src ?? ''] : name === 'link' ? [attribs.href ?? ''] : [],
  );
  const files = urls.map((url) => assets.get(url)?.body.plain.length ?? Number.NaN);
  return Buffer.byteLength(html) + files.reduce((sum, size) => sum + size, 0);
}

describe('a form', () => {
  it.each(sampleLanguages)('in %s weighs less than 60 kB with everything it fetches', (language) => {
    const pages = samplePages(language);
    for (const name of Object.keys(pages).filter((key) => key.startsWith('form'))) {
      expect(weightOf(pages[name] as PageModel), name).toBeLessThan(60_000);
    }
  });
});

describe('an asset', () => {
  it('has a URL that changes with its content, and may then be kept for ever', () => {
    expect(assets.url('accord.css')).toMatch(/^\/assets\/accord\.[0-9a-f]{12}\.css$/);
    expect(assets.get(assets.url('accord.css'))).toMatchObject({
      immutable: true,
      type: 'text/css; charset=utf-8',
    });
  });

  it('that host pages name by hand keeps its URL and is asked for again', () => {
    expect(assets.get('/assets/embed.js')).toMatchObject({ immutable: false });
  });

  it('that does not exist is not found', () => {
    expect(assets.get('/assets/../views/form.pug')).toBeNull();
    expect(() => assets.url('none.css')).toThrow('Unknown asset none.css');
  });
});
