import { type Fault, fail } from '#lib/errors/fail.ts';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import { readContent } from './check-content.ts';
import { type ContentVersion, createContentVersion } from './content-version.ts';
import { formatSerial } from './identifiers.ts';
import type { Entry, Version } from './model.ts';

/** The options of a preview. */
export interface PreviewRequest {
  language?: string;
  orientation?: string;
  /** Content in that language, shown instead of the stored content. */
  data?: unknown;
}

/** A version as it would be shown if it were ACTIVE. */
export interface Preview {
  entry: Entry;
  version: ContentVersion;
  language: string;
  orientation: 'VERTICAL' | 'HORIZONTAL';
}

/** @throws Failure `invalid` with every fault. */
export function readPreview(entry: Entry, version: Version, request: PreviewRequest): Preview {
  const faults: Fault[] = [];
  const language = request.language || version.defaultLanguage;
  const orientation = request.orientation || 'VERTICAL';
  const stored = Object.hasOwn(version.data, language) ? version.data[language] : undefined;
  const content =
    request.data === undefined ? stored : readContent(entry.type, request.data, '/data', faults);
  if (canonicalLanguageTag(language) === undefined || (!content && faults.length === 0))
    faults.push({ pointer: '/language', code: 'invalid', detail: 'must be a language of the content' });
  if (orientation !== 'VERTICAL' && orientation !== 'HORIZONTAL')
    faults.push({ pointer: '/orientation', code: 'invalid', detail: 'must be VERTICAL or HORIZONTAL' });
  if (faults.length > 0) throw fail('invalid', 'The preview cannot be shown.', { errors: faults });
  const { id, major, minor } = version;
  return {
    entry,
    language,
    orientation: orientation as Preview['orientation'],
    version: createContentVersion({
      id,
      type: entry.type,
      key: entry.key,
      // A draft has no serial; its style sheet is found by its id.
      serial: major === null || minor === null ? id : formatSerial({ major, minor }),
      defaultLanguage: language,
      data: { [language]: content ?? {} },
    }),
  };
}
