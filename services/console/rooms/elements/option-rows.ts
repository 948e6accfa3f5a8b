import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { FieldSpec, FormView } from '../../pages/form.ts';
import type { Edited } from '../../pages/merge.ts';
import { labelIn } from '../../pages/merge-form.ts';
import { arrangeRows, type RowFocus, rowButtons } from '../../pages/rows.ts';
import { inputName } from './content-values.ts';

/** What gets the focus: a button of a row, or the element with an id. */
export type OptionFocus = RowFocus | { id: string };

const listName = (language: string) => inputName(language, 'options');
const rowName = (language: string, row: number) => `${listName(language)}:${row}`;
const addId = 'field-add-option';

/** A group of inputs for a merge: the options of all languages are taken from one person. */
export function optionsOf(name: string): string | undefined {
  return /^[^:]+:options$/.test(name) ? 'options' : undefined;
}

/** The options of a question in each language, as long as the longest list. */
function optionLists({ languages, values }: Edited): string[][] {
  const lists = languages.map((language) => values[listName(language)] ?? []);
  const count = Math.max(0, ...lists.map(({ length }) => length));
  return lists.map((list) => Array.from({ length: count }, (_, row) => list[row] ?? ''));
}

function withLists({ languages, values }: Edited, lists: readonly string[][]): Edited['values'] {
  const named = languages.map((language, index) => [listName(language), lists[index] ?? []] as const);
  return { ...values, ...Object.fromEntries(named) };
}

/**
 * Carries out a button of the options: a row is the same option in all languages.
 * @returns undefined for other buttons.
 */
export function changeOptions(
  edit: Edited,
  op: string,
): { values: Edited['values']; focus: OptionFocus } | undefined {
  const lists = optionLists(edit);
  const count = lists[0]?.length ?? 0;
  if (op === 'addOption') {
    const values = withLists(
      edit,
      lists.map((list) => [...list, '']),
    );
    return { values, focus: { id: `field-${rowName(edit.languages[0] ?? '', count)}` } };
  }
  const arranged = arrangeRows(op, count, {});
  if (!arranged) return undefined;
  const { order, focus = { id: addId } } = arranged;
  return {
    values: withLists(
      edit,
      lists.map((list) => order.map((row) => list[row] ?? '')),
    ),
    focus,
  };
}

/** A field for each option and language: faults of the API name single options. */
export function optionFields(reader: ConsoleReader, edit: Edited): FieldSpec[] {
  const lists = optionLists(edit);
  return edit.languages.flatMap((language, index) =>
    (lists[index] ?? []).map((_, row) => ({
      name: rowName(language, row),
      label: labelIn(reader, optionWord(reader, row), edit.languages.length > 1 ? language : undefined),
      pointer: `/data/${language}/options/${row}`,
    })),
  );
}

/** How many options lack a text in a language. */
export function countMissingOptions(edit: Edited, language: string): number {
  const list = optionLists(edit)[edit.languages.indexOf(language)] ?? [];
  return list.filter((text) => text.trim() === '').length;
}

/** The rows as the template prints them. */
export function optionsView(
  reader: ConsoleReader,
  form: FormView,
  { focus, ...edit }: Edited & { focus?: OptionFocus },
) {
  const { t, languageName } = reader;
  const { languages } = edit;
  const lists = optionLists(edit);
  const [firstLanguage = ''] = languages;
  const [first = []] = lists;
  const focusedId = focus && 'id' in focus ? focus.id : '';
  const focusedRow = focus && 'row' in focus ? focus : undefined;
  const isLacking = (list: readonly string[]) => list.some((text, row) => !text.trim() && first[row]?.trim());
  return {
    /** Faults of the whole list. */
    faults: languages.flatMap((language) => {
      const { id, fault, faultLang } = form.byName[listName(language)] ?? {};
      return fault ? { id, label: languageName(language), text: fault, lang: faultLang } : [];
    }),
    rows: first.map((text, row) => ({
      word: optionWord(reader, row),
      texts: languages.map((language, index) => {
        const field = form.byName[rowName(language, row)];
        return {
          language,
          word: languages.length > 1 ? languageName(language) : '',
          field,
          name: listName(language),
          value: lists[index]?.[row] ?? '',
          isFocused: field?.id === focusedId,
        };
      }),
      ...rowButtons(reader, text.trim() || optionWord(reader, row), {
        row,
        count: first.length,
        focus: focusedRow,
      }),
    })),
    copies: languages
      .filter((_, index) => isLacking(lists[index] ?? []))
      .map((language) => ({
        op: `copy:${listName(language)}`,
        word: t('elements.copyTo', { from: languageName(firstLanguage), to: languageName(language) }),
      })),
    addId,
    isAddFocused: focusedId === addId,
  };
}

function optionWord({ t, number }: ConsoleReader, row: number): string {
  return t('elements.option', { number: number(row + 1) });
}
