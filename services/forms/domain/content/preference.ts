import type { PreferenceContent } from '#lib/contracts/form-content.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { type Field, flag, line, lines, listOf, objectOf, oneOf, required } from './fields.ts';

const members = objectOf({
  label: required(line()),
  description: lines,
  options: listOf(line(255), 50),
  valueType: required(
    oneOf('TOGGLE', 'CHECKBOXES', 'RADIO_BUTTONS', 'LIST_SINGLE', 'LIST_MULTI', 'FREE_TEXT'),
  ),
  includeDefault: flag,
  defaultValues: listOf(lines, 50),
  optional: flag,
});

/** A preference: its options belong to its valueType, its defaults to its options. */
export const readPreference: Field<Record<string, unknown>> = (value, at, faults) => {
  const before = faults.length;
  const read = members(value, at, faults);
  if (!read || faults.length > before) return read;
  const content = read as unknown as PreferenceContent;
  checkOptions(content, `${at}/options`, faults);
  checkDefaults(content, `${at}/defaultValues`, faults);
  return read;
};

function checkOptions({ valueType, options = [] }: PreferenceContent, at: string, faults: Fault[]): void {
  const fault = (pointer: string, code: string, detail: string) => faults.push({ pointer, code, detail });
  if (valueType === 'FREE_TEXT') {
    if (options.length > 0) fault(at, 'invalid', 'must be left out: FREE_TEXT has no options');
    return;
  }
  if (options.length === 0) fault(at, 'required', 'is required');
  else if (valueType === 'TOGGLE' && options.length !== 2)
    fault(at, 'invalid', 'must be two for TOGGLE: the first refuses, the second accepts');
  options.forEach((option, index) => {
    if (options.indexOf(option) !== index) fault(`${at}/${index}`, 'duplicate', 'is there already');
  });
}

function checkDefaults(content: PreferenceContent, at: string, faults: Fault[]): void {
  const { valueType, options = [], defaultValues = [] } = content;
  const several = valueType === 'CHECKBOXES' || valueType === 'LIST_MULTI';
  if (!several && defaultValues.length > 1)
    faults.push({ pointer: at, code: 'too-many', detail: `must be one for ${valueType}` });
  if (valueType === 'FREE_TEXT') return;
  defaultValues.forEach((given, index) => {
    if (!options.includes(given))
      faults.push({ pointer: `${at}/${index}`, code: 'not-an-option', detail: 'must be one of the options' });
  });
}
