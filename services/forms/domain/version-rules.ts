import type { Fault } from '#lib/errors/fail.ts';
import type { ModelType, VersionData, VersionStatus } from './model.ts';

/** The status changes that clients may request; all others are refused (docs/interface.md, "Models"). */
const moves: Record<VersionStatus, readonly VersionStatus[]> = {
  DRAFT: ['ACTIVE'],
  ACTIVE: ['ARCHIVED'],
  ARCHIVED: [],
};

export function mayMove(from: VersionStatus, to: VersionStatus): boolean {
  return moves[from].includes(to);
}

const becauseMajor = 'only a MAJOR version may change it, because a MINOR keeps earlier answers valid';

/** The members that define what an answer means. A change would alter the meaning of earlier answers. */
const meaning: Partial<Record<ModelType, Record<string, unknown>>> = {
  processing: { refusable: true },
  conditions: { refusable: true },
  preference: { valueType: undefined, optional: false },
};

/**
 * Checks whether content may be activated as a MINOR: it may reword, add languages and append options.
 * Options keep their positions, because answers refer to them by position (docs/interface.md).
 * @param former the content activated last.
 */
export function checkMinor(type: ModelType, former: VersionData, next: VersionData): Fault[] {
  const faults: Fault[] = [];
  const reference = Object.values(former)[0] ?? {};
  for (const [language, content] of Object.entries(next)) {
    const at = `/data/${language}`;
    for (const [field, absent] of Object.entries(meaning[type] ?? {}))
      if ((content[field] ?? absent) !== (reference[field] ?? absent))
        faults.push({ pointer: `${at}/${field}`, code: 'needs-major', detail: becauseMajor });
    if (type === 'preference')
      faults.push(
        ...checkOptions(
          optionsOf(content),
          optionsOf((Object.hasOwn(former, language) && former[language]) || reference),
          `${at}/options`,
        ),
      );
  }
  return faults;
}

function checkOptions(next: string[], former: string[], at: string): Faults {
  if (next.length < former.length)
    return [{ pointer: at, code: 'needs-major', detail: `options were removed: ${becauseMajor}` }];
  return next.flatMap((option, index) => {
    const before = former.indexOf(option);
    if (before < 0 || before === index) return [];
    return [
      { pointer: `${at}/${index}`, code: 'needs-major', detail: `the option was moved: ${becauseMajor}` },
    ];
  });
}

type Faults = Fault[];

function optionsOf(content: Record<string, unknown>): string[] {
  return (content.options ?? []) as string[];
}
