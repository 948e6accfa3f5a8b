import { describe, expect, it } from 'vitest';
import type { DescribedElement } from '#lib/contracts/forms.ts';
import { checkAnswer } from '../../services/forms/domain/check-answer.ts';
import { readPreference } from '../../services/forms/domain/content/types.ts';
import { createContentVersion } from '../../services/forms/domain/content-version.ts';

/** The answer that is recorded for a given text, if these options are written. */
function answered(options: string[], given: string, defaultValues: string[] = []) {
  const faults: object[] = [];
  const content = { label: 'How?', options, valueType: 'RADIO_BUTTONS', defaultValues };
  const en = readPreference(content, '', faults as never);
  if (!en) return faults;
  const version = createContentVersion({
    id: '1',
    type: 'preference',
    key: 'a',
    serial: '1.0',
    defaultLanguage: 'en',
    data: { en },
  });
  const result = checkAnswer(version, version.describe('en', 'a') as DescribedElement, [given]);
  return 'answer' in result ? result.answer.value : [result, ...faults];
}

describe('an option', () => {
  it.each([
    ['two  spaces', 'two  spaces'],
    ['two  spaces', 'two spaces'],
    ['two spaces', ' two\t \n spaces '],
    ['12\u00a0€', '12 €'],
    ['12 €', '12\u202f€'],
    ['cafe\u0301', 'caf\u00e9'],
    ['caf\u00e9', 'cafe\u0301'],
    ['a\u200bb', 'ab'],
    ['co\u00adop', 'coop'],
  ])('that is written as %j is answered with %j', (option, given) => {
    const [stored] = answered([option, 'other'], option) as string[];
    expect(answered([option, 'other'], given)).toEqual([stored]);
    expect(stored).toBeTypeOf('string');
  });

  it('is a default in the way in which it is written', () => {
    expect(answered(['two  spaces', 'other'], 'other', ['two  spaces'])).toEqual(['other']);
  });

  it('is no other one', () => {
    expect(answered(['two spaces', 'other'], 'twospaces')).toMatchObject([{ fault: 'not-an-option' }]);
  });
});
