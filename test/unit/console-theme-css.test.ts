import { describe, expect, it } from 'vitest';
import { joinCss, splitCss } from '../../services/console/rooms/elements/theme-css.ts';
import { growthOfFourfold, maxGrowth } from '../support/run/cpu-growth.ts';

describe('the style sheet of a theme in the editor', () => {
  it.each([
    [':root{--accord-accent:#fff;}', { accent: '#fff' }],
    [
      ':root {\n  --accord-accent: #8a2f5b;\n  --accord-radius: 1rem;\n}\nh1 { color: red }\n',
      { accent: '#8a2f5b', radius: '1rem', own: 'h1 { color: red }\n' },
    ],
    [
      'h1{a:b}\n.accord { color: red; --accord-accent : light-dark(#123456, #abcdef) ; x:url(a;b)}',
      { accent: 'light-dark(#123456, #abcdef)', own: 'h1{a:b}\n.accord { color: red; x:url(a;b)}' },
    ],
    ['@import "x"; :root{--accord-width:1}', { width: '1', own: '@import "x"; ' }],
    ['@media x{:root{--accord-width:2}}', { own: '@media x{:root{--accord-width:2}}' }],
    [':root{a{--accord-width:1}}', { own: ':root{a{--accord-width:1}}' }],
    [':root{--accord-width:1;--accord-width:2}', { width: '1', own: ':root{--accord-width:2}' }],
    [':root{color:red', { own: ':root{color:red' }],
    ['a:root{--accord-width:1}', { own: 'a:root{--accord-width:1}' }],
    [' ', {}],
  ])('shows the controls beside the rest: %j', (css, parts) => {
    expect(splitCss(css)).toEqual(parts);
  });

  it('is stored as it was written', () => {
    const css = ':root {\n  --accord-accent: #8a2f5b;\n}\nh1 { color: red }\n';
    expect(joinCss(splitCss(css))).toBe(css);
  });

  it.each([' ', ';', 'a:b;', '--accord-accent:', '{', '}', ':root{', ':root{a:b}', '/*', '@', '('])(
    'costs CPU time in proportion to its length, if it is full of %j',
    async (piece) => {
      const make = (length: number) => `:root{${piece.repeat(length / piece.length)}color:red}`;
      // The blank keeps each run from finding the result of the one before.
      let run = 0;
      const split = (css: string) => {
        run += 1;
        splitCss(css + ' '.repeat(run));
      };
      expect(await growthOfFourfold(make, split, 32_000)).toBeLessThan(maxGrowth);
    },
  );
});
