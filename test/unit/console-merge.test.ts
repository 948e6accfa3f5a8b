import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Edited, mergeEdits } from '../../services/console/pages/merge.ts';
import { mergeLists } from '../../services/console/pages/merge-lists.ts';
import {
  layoutIn,
  layoutOf,
  mergeRules,
  versionBody,
} from '../../services/console/rooms/forms/layout-values.ts';

const value = fc.constantFrom('a', 'b', 'c').map((each) => [each]);
const form = fc.record({ x: value, y: value, z: value });
const inEnglish = (values: Edited['values']): Edited => ({ languages: ['en'], values });
const languageOf = (name: string) => /^(.+):/.exec(name)?.[1];
const merge = (base: Edited, mine: Edited, theirs: Edited) =>
  mergeEdits({ base, mine, theirs }, { languageOf, lists: ['list'], sets: ['set'] });

describe('the merge of two people’s changes', () => {
  it('loses no change: each is taken, or told as a conflict', () => {
    fc.assert(
      fc.property(form, form, form, (base, typed, theirs) => {
        const { values, conflicts } = merge(inEnglish(base), inEnglish(typed), inEnglish(theirs));
        for (const name of ['x', 'y', 'z'] as const) {
          const conflict = conflicts.find((each) => each.name === name);
          const [before, mine, saved] = [base, typed, theirs].map((each) => each[name][0]);
          if (mine !== before) expect(values[name]?.[0]).toBe(mine);
          else expect(values[name]?.[0]).toBe(saved);
          expect(conflict !== undefined).toBe(mine !== before && saved !== before && mine !== saved);
          if (conflict) expect(conflict.theirs[0]).toBe(saved);
        }
      }),
    );
  });

  it('takes the options of all languages from one person, because their places mean the same', () => {
    const groupOf = (name: string) => (name.endsWith(':list') ? 'list' : undefined);
    const base = inEnglish({ 'en:list': ['a', 'b'], 'fr:list': ['', ''] });
    const moved = inEnglish({ 'en:list': ['b', 'a'], 'fr:list': ['', ''] });
    const translated = inEnglish({ 'en:list': ['a', 'b'], 'fr:list': ['A', 'B'] });
    const rules = { languageOf, groupOf };
    expect(mergeEdits({ base, mine: moved, theirs: translated }, rules)).toMatchObject({
      values: moved.values,
      conflicts: [
        { name: 'en:list', theirs: ['a', 'b'] },
        { name: 'fr:list', theirs: ['A', 'B'] },
      ],
    });
    expect(mergeEdits({ base, mine: base, theirs: translated }, rules)).toMatchObject({
      values: translated.values,
      conflicts: [],
    });
  });

  it('takes an empty text between others for a place', () => {
    const [first, second] = [inEnglish({ x: ['A', '', 'C'] }), inEnglish({ x: ['', 'A', 'C'] })];
    expect(merge(first, first, second)).toMatchObject({ values: second.values, conflicts: [] });
  });

  it('does not take an empty input for a change of one that was never filled in', () => {
    const merged = merge(inEnglish({ x: [] }), inEnglish({ x: [''] }), inEnglish({ x: ['theirs'] }));
    expect(merged).toMatchObject({ values: { x: ['theirs'] }, conflicts: [] });
  });

  it('takes what each has put into a set and out of it', () => {
    const [base, mine, theirs] = [
      ['a', 'b'],
      ['b', 'c'],
      ['a', 'b', 'd'],
    ].map((set) => inEnglish({ set }));
    const { values, conflicts } = merge(base as Edited, mine as Edited, theirs as Edited);
    expect([...(values.set ?? [])].sort()).toEqual(['b', 'c', 'd']);
    expect(conflicts).toEqual([]);
  });

  it('loses no list: what contradicts itself is told, and the list of the person who saves last stays', () => {
    const [base, mine, theirs] = [['a', 'b'], ['b', 'a', 'c'], ['b']].map((list) => inEnglish({ list }));
    const { values, conflicts } = merge(base as Edited, mine as Edited, theirs as Edited);
    expect(values.list).toEqual(['b', 'a', 'c']);
    expect(conflicts).toEqual([{ name: 'list', theirs: ['b'] }]);
  });
});

describe('the merge of languages', () => {
  const texts = fc.constantFrom('a', 'b');
  const edited = fc
    .record({
      languages: fc.subarray(['en', 'fr', 'ar'], { minLength: 1 }),
      texts: fc.record({ en: texts, fr: texts, ar: texts }),
      main: fc.nat(),
    })
    .map(({ languages, texts: typed, main }): Edited => {
      const values = languages.map((each) => [`${each}:title`, [typed[each as 'en']]] as const);
      const defaultLanguage = [languages[main % languages.length] as string];
      return { languages, values: { defaultLanguage, ...Object.fromEntries(values) } };
    });

  it('keeps those that one has removed and the other has changed, with the changed texts, and tells it', () => {
    fc.assert(
      fc.property(edited, edited, edited, (base, mine, theirs) => {
        const merged = merge(base, mine, theirs);
        for (const language of base.languages) {
          const has = (side: Edited) => side.languages.includes(language);
          if (has(mine) === has(theirs)) continue;
          const other = has(mine) ? mine : theirs;
          const text = other.values[`${language}:title`];
          const isChanged = text?.[0] !== base.values[`${language}:title`]?.[0];
          if (isChanged) expect(merged.keptLanguages).toContain(language);
          expect(has(merged)).toBe(merged.keptLanguages.includes(language));
          if (has(merged)) expect(merged.values[`${language}:title`]).toEqual(text);
        }
      }),
    );
  });

  it('keeps added ones of both, and a default language that exists', () => {
    fc.assert(
      fc.property(edited, edited, edited, (base, mine, theirs) => {
        const { languages, values } = merge(base, mine, theirs);
        for (const each of [...mine.languages, ...theirs.languages])
          if (!base.languages.includes(each)) expect(languages).toContain(each);
        expect(languages).toContain(values.defaultLanguage?.[0]);
      }),
    );
  });
});

describe('the merge of two orders', () => {
  const all = ['a', 'b', 'c', 'd', 'e'];
  const list = fc.shuffledSubarray(all);
  const pairs = all.flatMap((one) => all.flatMap((other) => (one < other ? [[one, other] as const] : [])));
  /** Which of two comes first in a list; undefined if it does not have both. */
  const firstOf = (order: readonly string[], [one, other]: readonly [string, string]) =>
    order.includes(one) && order.includes(other)
      ? order.find((each) => [one, other].includes(each))
      : undefined;

  it('takes the list of one person if the other has left it as it was', () => {
    fc.assert(
      fc.property(list, list, (base, changed) => {
        expect(mergeLists(base, changed, base)).toEqual(changed);
        expect(mergeLists(base, base, changed)).toEqual(changed);
        expect(mergeLists(base, changed, changed)).toEqual(changed);
      }),
    );
  });

  it('carries out all additions, removals and moves of both, or none', () => {
    fc.assert(
      fc.property(list, list, list, (base, mine, theirs) => {
        const merged = mergeLists(base, mine, theirs);
        if (!merged) return;
        for (const each of all) {
          const [before, first, second] = [base, mine, theirs].map((order) => order.includes(each));
          expect(merged.includes(each), each).toBe(first === before ? second : first);
        }
        expect(new Set(merged).size).toBe(merged.length);
        for (const pair of pairs) {
          const [before, after] = [firstOf(base, pair), firstOf(merged, pair)];
          if (!before || !after) continue;
          const moved = [mine, theirs].map((order) => firstOf(order, pair)).filter((each) => each !== before);
          expect(after, pair.join()).toBe(moved.find(Boolean) ?? before);
        }
      }),
    );
  });

  it('offers a choice to both people alike, and always if both have moved elements differently', () => {
    fc.assert(
      fc.property(list, list, list, (base, mine, theirs) => {
        const isChoice = mergeLists(base, mine, theirs) === undefined;
        expect(mergeLists(base, theirs, mine) === undefined).toBe(isChoice);
      }),
    );
    fc.assert(
      fc.property(
        fc.shuffledSubarray(all, { minLength: 5 }),
        fc.shuffledSubarray(all, { minLength: 5 }),
        (mine, theirs) => {
          const isSame = [mine, theirs].some((each) => `${each}` === `${all}`) || `${mine}` === `${theirs}`;
          expect(mergeLists(all, mine, theirs) === undefined).toBe(!isSame);
        },
      ),
    );
  });

  it('puts additions of both behind each other, and between their neighbours', () => {
    expect(mergeLists(['a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'd'])).toEqual(['a', 'b', 'c', 'd']);
    expect(mergeLists(['a', 'b'], ['b', 'a'], ['a', 'c', 'b'])).toEqual(['b', 'a', 'c']);
    expect(mergeLists([], ['a'], ['b'])).toEqual(['a', 'b']);
  });

  it('offers a choice where one has removed what the other has moved, or both have added the same elsewhere', () => {
    expect(mergeLists(['a', 'b', 'c'], ['a', 'b'], ['c', 'a', 'b'])).toBeUndefined();
    expect(mergeLists(['a'], ['x', 'a'], ['a', 'x'])).toBeUndefined();
    expect(mergeLists(['a'], ['a', 'x', 'x'], ['a', 'y'])).toBeUndefined();
  });
});

describe('a layout in the designer', () => {
  const main = { type: 'layout', elements: ['b', 'a'], info: 'i', footerOnTop: true, submitText: 'Send' };
  const data = { en: { ...main, ofLater: 1 }, 'pt-BR': { ...main, submitText: 'Enviar', ofLater: 2 } };
  const version = { defaultLanguage: 'pt-BR', data } as never;

  it('is the same after it was merged with itself, with the members that the designer does not know', () => {
    const edited = layoutOf(version);
    const sides = { base: edited, mine: edited, theirs: edited };
    const { values, languages, conflicts } = mergeEdits(sides, mergeRules);
    const layout = layoutIn({ values, languages });
    expect(layout.values).toEqual(edited.values);
    expect(conflicts).toEqual([]);
    expect(versionBody(layout, version)).toMatchObject({ defaultLanguage: 'pt-BR', data });
  });

  it('has texts whose language is part of the name of their input', () => {
    expect(mergeRules.languageOf('submitText-pt-BR')).toBe('pt-BR');
    for (const name of ['elements', 'place-en', 'info']) expect(mergeRules.languageOf(name)).toBeUndefined();
  });
});
