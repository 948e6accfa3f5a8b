import { Temporal } from 'temporal-polyfill';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor, type PostedForm, readerOf, wordChoices } from '../../pages/form.ts';
import { ways } from './consents.ts';
import { answerWord, type Question } from './questions.ts';

/** What is asked: a form, or elements instead of it; and the language in which it is read out. */
export interface Asked {
  form: string;
  elements: readonly string[];
  /** BCP 47; empty for that of the console. */
  language: string;
}

/** @param values of a field of the form, or of a parameter of the page. */
export function readAsked(values: (name: string) => readonly string[]): Asked {
  const elements = values('elements')
    .flatMap((each) => each.split(' '))
    .filter(Boolean);
  const form = elements.length > 0 ? '' : (values('form')[0] ?? '');
  return { form, elements, language: values('language')[0] ?? '' };
}

/** The member of the context that says what is asked: own elements are asked as an inline layout. */
export function layoutOf({ form, elements }: Asked) {
  return form ? { layout: form } : { layoutData: { elements: [...elements] } };
}

/** The value for a question that was left blank: no option begins with a space. */
const leftBlank = ' ';

const scanTypes = 'application/pdf,image/jpeg,image/png';
const validities = ['', 'P3M', 'P6M', 'P1Y', 'P2Y', 'P5Y'];

/**
 * The fields: one for each question, then how the answers came.
 * @param scan name of the file that was uploaded with these answers, if one was.
 */
export function fieldsOf(
  reader: ConsoleReader,
  questions: readonly Question[],
  scan: string | undefined,
): FieldSpec[] {
  const { t } = reader;
  const field = fieldsFor(reader, 'record');
  const hint = scan ? t('record.scanKept', { name: scan }) : t('record.scanHint');
  return [
    ...questions.flatMap((question) => questionFields(reader, question)),
    field('way', {
      kind: 'select',
      options: [['', '–'], ...wordChoices(reader, 'way', ways)],
      isRequired: true,
      pointer: '/context/collection/way',
    }),
    field('givenOn', { kind: 'date', pointer: '/context/collection/givenOn' }),
    field('scan', { kind: 'file', accept: scanTypes, hint, pointer: '/context/collection/document' }),
    field('reference', { pointer: '/context/collection/reference' }),
    field('comment', { kind: 'textarea', pointer: '/values/comment' }),
    field('object', { pointer: '/context/object' }),
    field('validity', {
      kind: 'select',
      options: validities.map((each) => [each, t(`record.validity.${each || 'usual'}`)] as const),
      pointer: '/context/validity',
    }),
  ];
}

/** A required question has a field, or an option, that says that it was left blank. */
function questionFields(reader: ConsoleReader, question: Question): FieldSpec[] {
  const { identifier, options, own, isMultiple, isRequired, isObjection } = question;
  const text = inTwo(question.text, own?.text);
  const kind = options ? (isMultiple ? 'checks' : 'radios') : 'textarea';
  const words = options?.map((each, index) => {
    const word = answerWord(reader, each, isObjection);
    return [each, inTwo(word, word === each ? own?.options?.[index] : undefined)] as const;
  });
  const blank = [leftBlank, reader.t('record.leftBlank')] as const;
  const none = isRequired ? [blank] : kind === 'radios' ? [['', reader.t('record.noAnswer')] as const] : [];
  const field: FieldSpec = {
    name: identifier,
    label: text,
    kind,
    pointer: pointerOf(identifier),
    // A fault at the question says more than the browser does, which stops at the first one.
    isNeeded: isRequired,
    ...(words && { options: [...words, ...none] }),
  };
  if (options || !isRequired) return [field];
  return [field, { name: blankName(identifier), label: `${text}: ${blank[1]}`, kind: 'check' }];
}

/** Words as the person reads them, and as staff does. */
function inTwo(text: string, own: string | undefined): string {
  return own === undefined || own === text ? text : `${text} – ${own}`;
}

/** Name of the box that says that a free text was left blank. */
function blankName(identifier: string): string {
  return `blank/${identifier}`;
}

/** What can be said before the review: questions that must be answered and are not, and a day to come. */
export function faultsOf(questions: readonly Question[], posted: PostedForm, timeZone: string) {
  const lacking = questions
    .filter(({ isRequired, identifier }) => isRequired && !isAnswered(identifier, posted))
    .map(({ identifier }) => ({ pointer: pointerOf(identifier), code: 'required', detail: '' }));
  const today = Temporal.Now.plainDateISO(timeZone).toString();
  const isToCome = (posted.givenOn?.[0] ?? '') > today;
  const day = { pointer: '/context/collection/givenOn', code: 'day-to-come', detail: '' };
  return isToCome ? [...lacking, day] : lacking;
}

/** Whether a question has an answer, or was left blank. */
function isAnswered(identifier: string, posted: PostedForm): boolean {
  const given = [...(posted[identifier] ?? []), ...(posted[blankName(identifier)] ?? [])];
  return given.some((each) => each !== '');
}

/** The JSON pointer of an answer in the body (RFC 6901). */
function pointerOf(identifier: string): string {
  return `/values/${identifier.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Puts a failure of an upload at its field: the API names none, because the file is the whole body. */
export function atScan(failure: ApiFailure): ApiFailure {
  const code = failure.status === 413 ? 'too-large-scan' : 'no-scan';
  if (![413, 415, 422].includes(failure.status)) return failure;
  const errors = [{ pointer: '/context/collection/document', code, detail: '' }];
  return new ApiFailure(failure.status, { errors });
}

/** The body of POST /consents/singlestep. */
export function bodyOf(subject: string, asked: Asked, questions: readonly Question[], posted: PostedForm) {
  const one = readerOf(posted);
  const answers = questions.flatMap(({ identifier }) => {
    if (!isAnswered(identifier, posted)) return [];
    const values = (posted[identifier] ?? []).filter((each) => each.trim() !== '');
    return [[identifier, values] as const];
  });
  const optional = (members: Record<string, string>) =>
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''));
  const { language } = asked;
  return {
    context: {
      subject,
      ...layoutOf(asked),
      origin: 'OPERATOR' as const,
      collection: {
        way: one('way'),
        ...optional({
          givenOn: one('givenOn'),
          reference: one('reference'),
          document: one('document'),
        }),
      },
      ...optional({ language, object: one('object'), validity: one('validity') }),
    },
    values: { ...Object.fromEntries(answers), ...optional({ comment: one('comment') }) },
  };
}
