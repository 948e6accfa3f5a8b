import { isObjection } from '#lib/contracts/element-rules.ts';
import type { Fault } from '#lib/errors/fail.ts';
import type { ModelType, VersionData } from './model.ts';

interface Said {
  purposes?: string[];
  legalBases?: string[];
  thirdParties?: unknown[];
  refusable?: boolean;
}

/** Where people have the right to object (GDPR, article 21(1)). */
const objectionBases = ['LEGAL_BASIS_LEGITIMATE_INTEREST', 'LEGAL_BASIS_PUBLIC_INTEREST'];

/**
 * What the people who read a processing would not be told, or be told wrongly (GDPR art. 13(1)(c), (e)). It
 * does not bar an activation: clients may have other ways to tell people.
 * @returns one fault for each member and language.
 */
export function adviseOn(type: ModelType, data: VersionData): Fault[] {
  if (type !== 'processing') return [];
  return Object.entries(data).flatMap(([language, content]) => {
    const { purposes = [], legalBases = [], thirdParties, refusable } = content as Said;
    const at = (member: string, code: string, detail: string) => ({
      pointer: `/data/${language}/${member}`,
      code,
      detail,
    });
    const isShared = purposes.includes('CONSENT_THIRD_PART_SHARING');
    const isBasedOnConsent = legalBases.length === 0 || legalBases.includes('LEGAL_BASIS_CONSENT');
    return [
      ...(thirdParties === undefined
        ? [at('thirdParties', 'recipients', 'says neither who receives the data nor that nobody does')]
        : []),
      ...(thirdParties?.length === 0 && isShared
        ? [at('thirdParties', 'no-recipient', 'must name whom the data are shared with')]
        : []),
      ...(refusable === false && isBasedOnConsent
        ? [at('refusable', 'needs-legal-basis', 'needs a legal basis other than consent')]
        : []),
      ...(isObjection(content) && !legalBases.some((basis) => objectionBases.includes(basis))
        ? [
            at(
              'legalBases',
              'objection-basis',
              'must be legitimate or public interest: only these can be objected to',
            ),
          ]
        : []),
    ];
  });
}
