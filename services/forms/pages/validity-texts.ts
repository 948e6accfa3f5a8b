import type { Reader } from '#lib/pages/reader.ts';
import { usualValidity, validityOf } from '#lib/text/answer-validity.ts';
import { addDuration } from '#lib/text/duration.ts';
import type { FormModel } from './page-model.ts';

/** What a form says of how long its answers hold. */
export interface ValidityTexts {
  /** Of the answers to most questions; null: nothing. */
  rest: string | null;
  /** Of each question that differs from the rest, by identifier. */
  differing: ReadonlyMap<string, string>;
}

/**
 * The rest are the questions without a validity of their own, as long as the context says. A form that asks
 * none of these speaks of all its questions if they are equal, and else only of each.
 */
export function validityTexts({ form, validity, now }: FormModel, reader: Reader): ValidityTexts {
  if (!form.layout.validityVisible) return { rest: null, differing: new Map() };
  const at = new Date(now);
  const asked = form.elements.map(({ identifier, content }) => ({ identifier, texts: content }));
  const questions = asked.map((each) => ({ each, own: validityOf(each, validity, at) }));
  const expiring = questions.filter(({ own }) => own !== null);
  const common = new Set(expiring.map(({ own }) => own)).size === 1 ? expiring[0]?.own : undefined;
  const isUsual = expiring.length === 0 || expiring.some(({ each }) => !('validity' in each.texts));
  const rest = isUsual ? (validity ?? usualValidity) : (common ?? null);
  const differing = expiring.flatMap(({ each, own }): [string, string][] => {
    if (own === null || own === rest) return [];
    const values = {
      date: reader.date(addDuration(at, own).toISOString()),
      duration: reader.duration(own),
    };
    return [[each.identifier, reader.t('question.validity', values)]];
  });
  return { rest: restText(rest, expiring.length < asked.length, reader), differing: new Map(differing) };
}

function restText(rest: string | null, hasConditions: boolean, reader: Reader): string | null {
  if (hasConditions) return reader.t('form.validityConditions');
  return rest && reader.t('form.validity', { duration: reader.duration(rest) });
}
