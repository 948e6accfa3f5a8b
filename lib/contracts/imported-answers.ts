import type { CheckedAnswer, DescribedInformation } from '#lib/contracts/forms.ts';

/** An answer that is taken over from another system, or why it is not one. */
export type ImportedCheck =
  | Omit<CheckedAnswer, 'key' | 'serial'>
  | { fault: 'unknown-element' | 'invalid-answer'; detail: string };

/**
 * Checks answers that are taken over from another system, and marks their entries as answered.
 * @param input.answers each to a version that was activated here once, in any of its languages.
 * @param input.informations without `serial` the ACTIVE version, without `key` of the default information.
 * @returns both in the same order, with texts in the language of the answer or the default one; null: no such
 * information.
 */
export type CheckImported = (input: {
  answers: { key: string; serial: string; answer: string[] }[];
  informations: { key?: string; serial?: string }[];
}) => Promise<{
  answers: ImportedCheck[];
  informations: (
    | ({ key: string } & Pick<DescribedInformation, 'identifier' | 'serial' | 'content'>)
    | null
  )[];
}>;
