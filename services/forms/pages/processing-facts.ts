import type { ProcessingContent, Retention } from '#lib/contracts/form-content.ts';
import { type LanguageAttributes, quantity, type Reader } from './reader.ts';

/** What a subject reads of a processing without opening anything (GDPR art. 13; experience.md). */
export interface ProcessingFacts {
  data: string;
  /** "Contains sensitive data", in words. */
  warnings: string[];
  retention: string;
  purposes: string[];
  legalBases: string[];
  thirdParties: { name: string; value: string | null }[];
  attributes: LanguageAttributes;
}

export function processingFacts(content: ProcessingContent, reader: Reader): ProcessingFacts {
  const word = (group: string) => (code: string) =>
    reader.has(`${group}.${code}`) ? reader.t(`${group}.${code}`) : code;
  return {
    data: content.data,
    warnings: [
      ...(content.containsSensitiveData ? [reader.t('processing.sensitive')] : []),
      ...(content.containsMedicalData ? [reader.t('processing.medical')] : []),
    ],
    retention: retentionText(content.retention, content.lang),
    purposes: (content.purposes ?? []).map(word('purpose')),
    legalBases: (content.legalBases ?? []).map(word('legalBasis')),
    thirdParties: (content.thirdParties ?? []).map(({ name, value }) => ({ name, value: value || null })),
    attributes: reader.in(content.lang),
  };
}

const units = new Set(['DAY', 'WEEK', 'MONTH', 'YEAR']);

/** The full text if there is one, else the label and the duration in the content's own language. */
function retentionText(retention: Retention | undefined, language: string): string {
  if (!retention) return '';
  if (retention.fullText) return retention.fullText;
  const { label, value, unit } = retention;
  const duration =
    value !== undefined && unit && units.has(unit) ? quantity(language, value, unit.toLowerCase()) : '';
  return [label, duration].filter(Boolean).join(' ');
}
