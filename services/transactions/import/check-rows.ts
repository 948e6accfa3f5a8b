import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { ImportedCheck } from '#lib/contracts/imported-answers.ts';
import { expiryOf } from '#lib/text/answer-validity.ts';
import { composeItem, shownTexts } from '../receipts/receipt.ts';
import type { CheckedRow } from './decide-rows.ts';
import type { ImportRow, NumberedRow, RowFaults } from './row.ts';

interface CheckDependencies {
  forms: Pick<FormsOperations, 'checkImported'>;
  instance: { name: string };
}

/** Compares the rows with the versions that they answer. */
export async function checkRows(
  { forms, instance }: CheckDependencies,
  rows: readonly NumberedRow[],
  errors: RowFaults,
): Promise<{ checked: CheckedRow[]; texts: Map<string, object> }> {
  const answers = createIndex<{ key: string; serial: string; answer: string[] }>();
  const informations = createIndex<ImportRow['information']>();
  const places = rows.map(({ key, serial, answer, information }) => ({
    answer: answers.place({ key, serial, answer }),
    information: informations.place(information),
  }));
  const found = await forms.checkImported({ answers: answers.values, informations: informations.values });
  const texts = new Map<string, object>();
  const checked: CheckedRow[] = [];
  rows.forEach((row, index) => {
    const { answer, information } = places[index] as (typeof places)[number];
    const check = found.answers[answer] as ImportedCheck;
    const info = found.informations[information];
    if ('fault' in check) {
      const pointer = check.fault === 'unknown-element' ? '/element' : '/answer';
      errors.push({ row: row.row, pointer, code: check.fault, detail: check.detail });
    } else if (!info) {
      const detail = 'is no information that was activated here, and there is no default one';
      errors.push({ row: row.row, pointer: '/information', code: 'unknown-information', detail });
    } else {
      const { identifier, type, value, positions, options, content } = check;
      if (!texts.has(identifier)) {
        const item = composeItem({ identifier, content }, type, options);
        texts.set(identifier, { ...item, owner: instance.name });
      }
      if (!texts.has(info.identifier)) texts.set(info.identifier, shownTexts(info));
      const { expiresAt = expiryOf({ identifier, texts: content }, undefined, row.givenAt) } = row;
      const known = { identifier, type, value, positions, expiresAt };
      const shown = { infoKey: info.key, infoSerial: info.serial };
      checked.push({ ...row, ...known, ...shown, isVerified: false });
    }
  });
  return { checked, texts };
}

/** Values in the order in which they were first seen. */
function createIndex<Value>() {
  const places = new Map<string, number>();
  const values: Value[] = [];
  return {
    values,
    place(value: Value): number {
      const name = JSON.stringify(value);
      const known = places.get(name);
      if (known !== undefined) return known;
      places.set(name, values.length);
      return values.push(value) - 1;
    },
  };
}
