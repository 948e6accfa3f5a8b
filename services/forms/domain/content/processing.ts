import { type Field, flag, integer, line, lines, listOf, objectOf, oneOf, required } from './fields.ts';
import { dataController } from './information.ts';

export const purposes = [
  'CONSENT_CORE_SERVICE',
  'CONSENT_IMPROVED_SERVICE',
  'CONSENT_MARKETING',
  'CONSENT_THIRD_PART_SHARING',
  'CONSENT_RESEARCH',
] as const;

export const legalBases = [
  'LEGAL_BASIS_CONSENT',
  'LEGAL_BASIS_CONTRACT',
  'LEGAL_BASIS_LEGITIMATE_INTEREST',
  'LEGAL_BASIS_LEGAL_OBLIGATION',
  'LEGAL_BASIS_PUBLIC_INTEREST',
  'LEGAL_BASIS_VITAL_INTEREST',
] as const;

const retentionMembers = objectOf({
  label: line(),
  value: integer(0, 10_000),
  unit: oneOf('DAY', 'WEEK', 'MONTH', 'YEAR'),
  fullText: lines,
});

/** How long data are kept: in words, or as a number with its unit. */
const retention: Field = (value, at, faults) => {
  const before = faults.length;
  const read = retentionMembers(value, at, faults);
  if (!read || faults.length > before) return read;
  if ((read.value === undefined) !== (read.unit === undefined))
    faults.push({ pointer: at, code: 'invalid', detail: 'value and unit belong together' });
  else if (Object.keys(read).length === 0)
    faults.push({
      pointer: at,
      code: 'required',
      detail: 'needs a label, a fullText, or a value with its unit',
    });
  return read;
};

export const readProcessing = objectOf({
  title: required(line()),
  data: required(lines),
  retention: required(retention),
  usage: required(lines),
  purposes: listOf(oneOf(...purposes), 20),
  legalBases: listOf(oneOf(...legalBases), 20),
  containsSensitiveData: flag,
  containsMedicalData: flag,
  dataController,
  dataControllerVisible: flag,
  thirdParties: listOf(objectOf({ name: required(line()), value: lines }), 50),
  refusable: flag,
});
