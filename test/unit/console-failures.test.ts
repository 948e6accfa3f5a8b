import { expect, it } from 'vitest';
import type { ProblemCode } from '#lib/errors/fail.ts';
import { problemStatus } from '#lib/http/problem.ts';
import { ApiFailure } from '../../services/console/api/api-failure.ts';
import { failureText } from '../../services/console/pages/failure-page.ts';
import { formView } from '../../services/console/pages/form.ts';
import { readerOf } from '../support/console/console-words.ts';

const codes = Object.keys(problemStatus) as ProblemCode[];
const failureOf = (code: ProblemCode, more = {}) =>
  new ApiFailure(problemStatus[code].status, {
    type: `https://consent.example.org/docs/problems/${code}`,
    detail: 'Only an open transaction can be cancelled.',
    ...more,
  });
/** What the console itself never asks for, so that it is shown on no page. */
const neverMet: readonly ProblemCode[] = ['method-not-allowed', 'unauthorized'];

it.each(['en', 'fr', 'ar'])(
  'every refusal of the API is a sentence of its own that says what to do, in %s',
  (language) => {
    const reader = readerOf(language);
    for (const code of codes.filter((each) => !neverMet.includes(each))) {
      for (const isOfForm of [false, true]) {
        const text = failureText(reader, failureOf(code), isOfForm);
        expect(text).not.toBe(reader.t('failure.status', { status: problemStatus[code].status }));
        // What has happened, and what to do.
        expect(text.match(/[.?؟]/gu)?.length, `${code}: ${text}`).toBeGreaterThanOrEqual(2);
      }
    }
  },
);

it('a form has the sentence in the language of its reader, and the words of the API below it', () => {
  const failure = failureOf('wrong-state');
  const { faults, faultsTitle } = formView(readerOf('fr'), { action: '/', submit: 'x', failure });
  expect(faultsTitle).toBe('Ceci n’a pas été fait');
  expect(faults).toEqual([
    {
      text: expect.stringContaining('Rouvrez la page'),
      detail: 'Only an open transaction can be cancelled.',
    },
  ]);
});

it('faults that are about no field of the form give way to the sentence; others do not', () => {
  const reader = readerOf('en');
  const failure = failureOf('not-withdrawable', {
    errors: [{ pointer: '/elements/0', code: 'not-withdrawable', detail: 'rests on no consent' }],
  });
  const form = { action: '/', submit: 'x', failure };
  expect(formView(reader, form).faults).toMatchObject([{ text: expect.stringContaining('may object') }]);
  const fields = [{ name: 'element', label: 'Element', pointer: '/elements' }];
  expect(formView(reader, { ...form, fields }).faults).toMatchObject([{ href: '#field-element' }]);
});
