import { describe, expect, it } from 'vitest';
import { themeAccent } from '../../services/forms/domain/theme-accent.ts';
import { checkThemeCss, scopeThemeCss } from '../../services/forms/domain/theme-css.ts';
import { growthOfFourfold, maxGrowth } from '../support/run/cpu-growth.ts';

describe('the style sheet of a theme', () => {
  it.each([
    [':root { --accord-accent: #0b6e4f }', '.accord{--accord-accent:#0b6e4f}'],
    ['.accord h1, p > b { color: red }', '.accord h1,.accord p>b{color:red}'],
    ['body.page-form { padding: 1rem }', '.accord.page-form{padding:1rem}'],
    ['a { color: red', '.accord a{color:red}'],
    [
      '@media (prefers-color-scheme: dark) { html { color: rgb(1 2 3 / 50%) } a { color: var(--x, blue) } }',
      '@media (prefers-color-scheme:dark){.accord{color:rgb(1 2 3/50%)}.accord a{color:var(--x,blue)}}',
    ],
    ['', ''],
  ])('is served under the root: %j', async (css, served) => {
    expect(checkThemeCss(css)).toEqual([]);
    expect(await scopeThemeCss(css)).toBe(served);
  });

  it('is rejected with every fault once', () => {
    const css = 'a { display: none; background: url(x) } b { display: none } @import "x";';
    expect(checkThemeCss(css)).toEqual([
      'must not set display',
      'must not use url()',
      'must not use @import',
    ]);
  });

  it('is served empty if its rules are not allowed', async () => {
    expect(await scopeThemeCss('a { background: url(x) }')).toBe('');
  });

  it.each([
    '(',
    '[',
    '{',
    'a{',
    '@media x{',
    'a:not(',
    'a{--x:(',
    '"',
    '/*',
    'a,',
    'a{color:red}',
    'a{color red}',
    ':root{--accord-accent:#fff}',
    '@;',
    'a{width:calc(',
  ])('of 64 KiB of %s costs CPU time in proportion to its length', async (piece) => {
    const make = (length: number) => piece.repeat(length / piece.length);
    expect(await growthOfFourfold(make, scopeThemeCss, 64_000)).toBeLessThan(maxGrowth);
  });

  it('has at most 10,000 selectors, rules and declarations', () => {
    expect(checkThemeCss('a{color:red}'.repeat(5_000))).toEqual([]);
    expect(checkThemeCss(`${'a,'.repeat(30_000)}a{color:red}`)).toEqual([
      'must have at most 10000 selectors, rules and declarations',
    ]);
  });
});

describe('the accent of a theme on paper', () => {
  it.each([
    [':root { --accord-accent: #0B6e4f }', '#0b6e4f'],
    ['.accord { --accord-accent: #abc } h1 { color: red }', '#aabbcc'],
    ['h1, html { --accord-accent: light-dark(#8a2f5b, #fff) }', '#8a2f5b'],
    ['.accord { --accord-accent: #8a2f5b80 }', '#8a2f5b'],
    ['.accord { --accord-accent: red } .accord { --accord-accent: #123456 }', '#123456'],
    ['.accord { --accord-accent: red }', undefined],
    ['h1 { --accord-accent: #123456 }', undefined],
    ['@media print { .accord { --accord-accent: #123456 } }', undefined],
    ['.accord { --accord-accent: #123456; background: url(x) }', undefined],
    ['.accord { --accord-accent: #1234567 }', undefined],
    ['', undefined],
  ])('is its colour for all pages, if it is hexadecimal: %j', async (css, accent) => {
    expect(await themeAccent(css)).toBe(accent);
  });
});
