import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { FieldSpec, FormView } from '../../pages/form.ts';
import type { Edited } from '../../pages/merge.ts';
import { arrangeRows, type RowFocus, rowButtons } from '../../pages/rows.ts';
import { type ContentField, contentFields, partPaths } from './content-fields.ts';
import { inputName, nobodyName } from './content-values.ts';

/** What gets the focus: a button of a row, or the element with an id. */
export type ListFocus = RowFocus | { id: string };

/** The list whose rows the editor shows: options of a preference, recipients of a processing. */
export type RowList = ContentField & { kind: 'rows' };

/** An element has at most one such list. */
export function listOf(fields: readonly ContentField[]): RowList | undefined {
  return fields.find((field): field is RowList => field.kind === 'rows');
}

const addId = 'field-add-row';
/** The places of the options that are chosen from the start; the same in all languages. */
const chosenName = inputName('*', 'defaultValues');

const rowName = (name: string, row: number) => `${name}:${row}`;

/** A group of inputs for a merge: the rows of all languages are taken from one person. */
export function groupOf(name: string): string | undefined {
  const path = name.slice(name.indexOf(':') + 1).split('.', 1)[0] ?? '';
  if (name === chosenName) return 'options';
  const lists = Object.values(contentFields).flatMap((fields) => listOf(fields)?.path ?? []);
  return lists.find((each) => each === path);
}

/** The texts of an input list in each language and part of an item, as long as the longest list. */
function rowLists(list: RowList, { languages, values }: Edited) {
  const inputs = languages.flatMap((language) =>
    partPaths(list).map((path) => ({ language, path, name: inputName(language, path) })),
  );
  const count = Math.max(0, ...inputs.map(({ name }) => values[name]?.length ?? 0));
  const rows = Array.from({ length: count }, (_, row) => row);
  return {
    count,
    inputs: inputs.map((each) => ({ ...each, texts: rows.map((row) => values[each.name]?.[row] ?? '') })),
  };
}

/**
 * Carries out a button of a list: a row is the same item in all languages.
 * @returns undefined for other buttons.
 */
export function changeRows(
  list: RowList,
  edit: Edited,
  op: string,
): { values: Edited['values']; focus: ListFocus } | undefined {
  const { count, inputs } = rowLists(list, edit);
  const withTexts = (change: (texts: readonly string[]) => string[]) => ({
    ...edit.values,
    ...Object.fromEntries(inputs.map(({ name, texts }) => [name, change(texts)])),
  });
  if (op === 'addRow') {
    const values = withTexts((texts) => [...texts, '']);
    return { values, focus: { id: `field-${rowName(inputs[0]?.name ?? '', count)}` } };
  }
  const arranged = arrangeRows(op, count, {});
  if (!arranged) return undefined;
  const { order, focus = { id: addId } } = arranged;
  const values = withTexts((texts) => order.map((row) => texts[row] ?? ''));
  const chosen = (edit.values[chosenName] ?? []).map((row) => order.indexOf(Number(row)));
  return { values: { ...values, [chosenName]: chosen.filter((row) => row >= 0).map(String) }, focus };
}

/** A field for each text of each row: faults of the API name single members of single items. */
export function rowFields(reader: ConsoleReader, list: RowList, edit: Edited): FieldSpec[] {
  const { languages } = edit;
  return rowLists(list, edit).inputs.flatMap(({ language, path, name, texts }) =>
    texts.map((_, row) => ({
      name: rowName(name, row),
      label: list.parts
        ? reader.t('faults.field', { group: rowWord(reader, list, row), label: partWord(reader, list, path) })
        : rowWord(reader, list, row),
      ...(languages.length > 1 && { group: reader.languageName(language) }),
      pointer: `/data/${language}/${list.path}/${row}${path.slice(list.path.length).replace('.', '/')}`,
    })),
  );
}

/** How many texts the rows lack in a language; one if nothing says whether there are recipients. */
export function countMissingRows(list: RowList, edit: Edited, language: string): number {
  const { count, inputs } = rowLists(list, edit);
  if (list.parts && count === 0) return edit.values[nobodyName(list)]?.[0] === 'yes' ? 0 : 1;
  const [first] = inputs.filter((each) => each.language === language);
  return (first?.texts ?? []).filter((text) => text.trim() === '').length;
}

/** The list as the template prints it. */
export function rowsView(
  reader: ConsoleReader,
  list: RowList,
  form: FormView,
  { focus, ...edit }: Edited & { focus?: ListFocus },
) {
  const { t, languageName } = reader;
  const { languages, values } = edit;
  const { count, inputs } = rowLists(list, edit);
  const first = inputs[0]?.texts ?? [];
  const focusedId = focus && 'id' in focus ? focus.id : '';
  const chosen = values[chosenName] ?? [];
  return {
    title: t(`content.${list.path}`),
    hint: t(`content.${list.path}.hint`),
    add: t(`content.${list.path}.add`),
    addId,
    isAddFocused: focusedId === addId,
    /** Faults of the whole list. */
    faults: [...languages.map((language) => inputName(language, list.path)), chosenName].flatMap((name) => {
      const { id, group, fault, faultLang } = form.byName[name] ?? {};
      return fault ? { id, label: group, text: fault, lang: faultLang } : [];
    }),
    rows: first.map((text, row) => ({
      word: rowWord(reader, list, row),
      texts: inputs.map(({ language, path, name, texts }) => {
        const field = form.byName[rowName(name, row)];
        const words = [partWord(reader, list, path), languages.length > 1 && languageName(language)];
        return {
          language,
          word: words.filter(Boolean).join(', '),
          field,
          name,
          value: texts[row] ?? '',
          maxLength: list.parts ? 500 : 255,
          isFocused: field?.id === focusedId,
        };
      }),
      chosen: !list.parts && { name: chosenName, value: String(row), checked: chosen.includes(String(row)) },
      ...rowButtons(reader, text.trim() || rowWord(reader, list, row), {
        row,
        count,
        focus: focus && 'row' in focus ? focus : undefined,
      }),
    })),
    copies: languages.slice(1).flatMap((language) => {
      const isLacking = inputs
        .filter((each) => each.language === language)
        .some(({ texts }, part) =>
          texts.some((text, row) => !text.trim() && inputs[part]?.texts[row]?.trim()),
        );
      const words = { from: languageName(languages[0] ?? ''), to: languageName(language) };
      return isLacking
        ? { op: `copy:${inputName(language, list.path)}`, word: t(`content.${list.path}.copyTo`, words) }
        : [];
    }),
    nobody: list.parts && form.byName[nobodyName(list)],
  };
}

function rowWord({ t, number }: ConsoleReader, { path }: RowList, row: number): string {
  return t(`content.${path}.row`, { number: number(row + 1) });
}

/** The word of a member of an item; empty if items are texts. */
function partWord({ t }: ConsoleReader, { parts }: RowList, path: string): string {
  return parts ? t(`content.${path}`) : '';
}
