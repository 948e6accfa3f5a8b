import { isConsentNotice } from '#lib/contracts/element-rules.ts';
import type { CheckedAnswer, DescribedElement, DescribedInformation } from '#lib/contracts/forms.ts';
import type { CheckImported as Check, ImportedCheck } from '#lib/contracts/imported-answers.ts';
import { checkAnswer, noAnswer } from '../domain/check-answer.ts';
import type { ContentVersion } from '../domain/content-version.ts';
import { markAnswered, readActive, readSerials } from '../queries/active-entries.ts';
import type { FormsContext } from './context.ts';

type Input = Parameters<Check>[0];

/** A version that was activated here once, with the id and the name of its entry. */
interface Known {
  version: ContentVersion;
  model: string;
  name: string;
  answered: boolean;
}

/** Every activated version is known, whatever its age. */
const epoch = '1970-01-01T00:00:00Z';

/** The internal operation `checkImported` (lib/contracts/forms.ts). */
export function createCheckImported({ db, contents }: Pick<FormsContext, 'db' | 'contents'>): Check {
  return async function check({ answers, informations }: Input) {
    const known = await readKnown(
      answers.map(({ key, serial }) => ({ key, serial })),
      informations,
    );
    const checked = answers.map(({ key, serial, answer }): ImportedCheck => {
      const found = known.get(`${key}/${serial}`);
      if (!found || found.version.type === 'information')
        return { fault: 'unknown-element', detail: 'is no version of an element that was activated here' };
      return checkOne(found, answer);
    });
    const unmarked = new Set([...known.values()].flatMap((each) => (each.answered ? [] : [each.model])));
    if (unmarked.size > 0) await markAnswered(db, [...unmarked]);
    return {
      answers: checked,
      informations: informations.map((wanted) => {
        const found = known.get(nameOf(wanted));
        if (found?.version.type !== 'information') return null;
        const { version, name } = found;
        const item = version.describe(version.defaultLanguage, name) as DescribedInformation;
        const { identifier, serial, content } = item;
        return { key: version.key, identifier, serial, content };
      }),
    };
  };

  async function readKnown(
    elements: readonly { key: string; serial: string }[],
    informations: Input['informations'],
  ): Promise<Map<string, Known>> {
    const named = [...elements, ...informations.filter(({ key }) => key !== undefined)];
    const keys = [...new Set(named.flatMap(({ key }) => key ?? []))];
    const withDefault = informations.some(({ key }) => key === undefined);
    const entries = await readActive(db, { keys, withDefault });
    const activeOf = ({ key, serial }: Input['informations'][number]) => {
      const entry = entries.find((each) => (key === undefined ? each.isDefault : each.key === key));
      return { key: entry?.key ?? '', serial: serial ?? `${entry?.major}.${entry?.minor}` };
    };
    const wanted = new Map(
      [...elements, ...informations.map(activeOf)].map((each) => [`${each.key}/${each.serial}`, each]),
    );
    const rows = await readSerials(db, [...wanted.values()], epoch);
    const versions = await contents.get(rows.map(({ id }) => id));
    const found = new Map<string, Known>();
    for (const { id, key, serial } of rows) {
      const version = versions.get(id);
      const entry = entries.find((each) => each.key === key);
      if (version && entry)
        found.set(`${key}/${serial}`, {
          version,
          model: entry.id,
          name: entry.name,
          answered: entry.answered,
        });
    }
    // As they were asked for: without a serial, or without a key.
    for (const each of informations) {
      const { key, serial } = activeOf(each);
      const version = found.get(`${key}/${serial}`);
      if (version) found.set(nameOf(each), version);
    }
    return found;
  }
}

function nameOf({ key = '', serial = '' }: Input['informations'][number]): string {
  return `${key}/${serial}`;
}

function checkOne({ version, name }: Known, answer: readonly string[]): ImportedCheck {
  const item = version.describe(languageOf(version, answer), name) as DescribedElement;
  // None of several options is an answer; of one option it is a cleared one.
  const values = answer.length === 0 && !item.multiple ? undefined : answer;
  const result = checkAnswer(version, item, values);
  if ('answer' in result) return answered(result.answer);
  if ('none' in result) return answered(noAnswer(version, item));
  // A notice that rests on consent offers no choice, and can be withdrawn.
  const isWithdrawal = result.fault === 'not-refusable' && answer.length === 1 && isConsentNotice(item);
  if (isWithdrawal) return answered({ ...noAnswer(version, item), value: ['refused'], positions: [1] });
  return { fault: 'invalid-answer', detail: result.detail };
}

/** The language in which the options have been named; else the default one. */
function languageOf({ data, languages, defaultLanguage }: ContentVersion, answer: readonly string[]): string {
  const isIn = (language: string) => {
    const options = (data[language]?.options ?? []) as string[];
    return answer.every((text) => options.includes(text));
  };
  return isIn(defaultLanguage) ? defaultLanguage : (languages.find(isIn) ?? defaultLanguage);
}

function answered({ identifier, type, value, positions, options, content }: CheckedAnswer): ImportedCheck {
  return { identifier, type, value, positions, options, content };
}
