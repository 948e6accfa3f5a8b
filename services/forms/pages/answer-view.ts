import type { PageAnswer } from '#lib/contracts/pages.ts';
import type { LanguageAttributes, Reader } from './reader.ts';

/** One answer as it is told back to the subject. */
export interface AnswerView {
  title: string;
  attributes: LanguageAttributes;
  decision: PageAnswer['decision'];
  /** One text or several; never empty. */
  values: { text: string; attributes: LanguageAttributes }[];
  owner: string | null;
  given: string | null;
}

export function answerView(answer: PageAnswer, reader: Reader): AnswerView {
  const attributes = reader.in(answer.lang);
  const own = (text: string) => ({ text, attributes: {} });
  const values =
    answer.decision !== null
      ? [own(reader.t(`answer.${answer.decision}`))]
      : answer.values.length > 0
        ? answer.values.map((text) => ({ text, attributes }))
        : [own(reader.t('preference.none'))];
  return {
    title: answer.title,
    attributes,
    decision: answer.decision,
    values,
    owner: answer.owner ? reader.t('answer.toOwner', { owner: answer.owner }) : null,
    given: answer.created ? reader.t('answer.given', { date: reader.date(answer.created) }) : null,
  };
}
