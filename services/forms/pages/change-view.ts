import type { FormChange } from '#lib/contracts/form-content.ts';
import { isLanguageTag, type LanguageAttributes, type Reader, textDirection } from '#lib/pages/reader.ts';

/** What differs from the version that the person answered; null if nothing does. */
export function changeView(change: FormChange | undefined, lang: string, reader: Reader) {
  if (!change) return null;
  const attributes: LanguageAttributes = reader.in(lang);
  const date = reader.date(change.since);
  return {
    title: reader.t('change.title', { date }),
    oldTitle: reader.t('change.old', { date }),
    attributes,
    fields: change.fields.map(({ field, label, old, oldLanguage, new: now, parts }) => ({
      label,
      old,
      /** Within the text that is shown now, which may be in another language. */
      oldAttributes:
        oldLanguage === lang || !isLanguageTag(oldLanguage)
          ? attributes
          : { lang: oldLanguage, dir: textDirection(oldLanguage) },
      /** Lists have an entry on each line. */
      isList: listFields.has(field),
      // Texts that could not be compared are shown in full.
      parts: parts ?? [
        { op: 'removed' as const, text: old },
        { op: 'added' as const, text: now },
      ],
    })),
  };
}

const listFields = new Set(['options', 'purposes', 'legalBases', 'thirdParties', 'warnings']);

export type ChangeView = ReturnType<typeof changeView>;
