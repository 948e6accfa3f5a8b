import { describe, expect, it } from 'vitest';
import { checkThemeCss, scopeThemeCss } from '../../services/forms/domain/theme-css.ts';

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
  ])('is served under the root: %j', (css, served) => {
    expect(checkThemeCss(css)).toEqual([]);
    expect(scopeThemeCss(css)).toBe(served);
  });

  it('is rejected with every fault once', () => {
    const css = 'a { display: none; background: url(x) } b { display: none } @import "x";';
    expect(checkThemeCss(css)).toEqual([
      'must not set display',
      'must not use url()',
      'must not use @import',
    ]);
  });

  it('is served empty if its rules are not allowed', () => {
    expect(scopeThemeCss('a { background: url(x) }')).toBe('');
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
    'a{color:red}',
    'a{width:calc(',
  ])('of 64 KiB of %s is checked quickly and without an exception', (piece) => {
    const started = performance.now();
    expect(checkThemeCss(piece.repeat(65_000 / piece.length))).toSatisfy(Array.isArray);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
