import type Router from '@koa/router';
import type { Context } from 'koa';
import { Temporal } from 'temporal-polyfill';
import { purposes } from '#lib/contracts/element-rules.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { listEntries } from '../../models/read-model.ts';
import { actLinks } from '../../pages/acts.ts';
import { factsView } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import { type FieldSpec, fieldsFor, type PostedForm, readerOf, wordChoices } from '../../pages/form.ts';
import { orShowAgain } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { subjectPath } from '../../people/subject-path.ts';
import { type Decisions, decisionsView } from './decisions-view.ts';

/** The path of the page, with a person filled in. */
export function decisionsPath({ path, names }: Pick<RoomTools, 'path' | 'names'>, name: string): string {
  return withQuery(`${path}/decisions`, { s: name && names.seal(name) });
}

/** "May I?": decisions about a person, with their reasons (docs/decisions-api.md). */
export function decisionRoutes(router: Router, tools: RoomTools): void {
  const path = `${tools.path}/decisions`;

  const formOf = async (ctx: Context, failure?: ApiFailure) => {
    const reader = tools.reader(ctx);
    const elements = await listEntries(tools.api(ctx), {
      types: ['processing', 'conditions'],
      statuses: 'ACTIVE',
    });
    const names = new Map(elements.map(({ key, name }) => [key, name]));
    const form = tools.form(ctx, {
      action: path,
      submit: reader.t('decisions.act'),
      fields: fieldsOf(reader, [...names]),
      values: ctx.method === 'POST' ? tools.posted(ctx) : { subject: tools.names.open(ctx.query.s) },
      failure,
    });
    return { form, names };
  };

  const show = async (ctx: Context, failure?: ApiFailure) => {
    tools.require(ctx, 'decideQuestions');
    const { form } = await formOf(ctx, failure);
    await tools.page(
      ctx,
      'decisions',
      { title: tools.reader(ctx).t('decisions.title'), form },
      failure?.status,
    );
  };
  router.get('/decisions', (ctx) => show(ctx));

  // A question is sent as a form, so that no URL has the name of the person or the object.
  const decide = async (ctx: Context) => {
    const body = bodyOf(tools.posted(ctx), tools.timeZone);
    const { body: decided } = await tools.api(ctx).call('decideQuestions', { body });
    const transactions = await transactionsOf(ctx, tools, body.subject, decided);
    const { form, names } = await formOf(ctx);
    const reader = tools.reader(ctx);
    await tools.page(ctx, 'decided', {
      title: reader.t('decisions.of', { name: body.subject }),
      facts: factsOf(reader, tools, body, decided.asOf),
      ...decisionsView(reader, decided.decisions, { names, transactions }),
      // An answer of today changes no decision of the past.
      acts: body.asOf ? [] : actsOf(ctx, tools, body, decided),
      form,
    });
  };
  const showFailure = (ctx: Context, failure: ApiFailure) => show(ctx, atFields(failure));
  router.post('/decisions', orShowAgain(showFailure, decide));
}

function fieldsOf(reader: ConsoleReader, elements: (readonly [string, string])[]): FieldSpec[] {
  const field = fieldsFor(reader, 'decisions');
  return [
    field('subject', { hint: reader.t('subjects.nameHint'), isRequired: true }),
    field('elements', { kind: 'checks', options: elements, pointer: '/questions' }),
    field('purposes', { kind: 'checks', options: wordChoices(reader, 'purpose', purposes) }),
    field('others', { kind: 'textarea', isCode: true }),
    field('object', { label: reader.t('record.object') }),
    field('asOf', { kind: 'datetime-local' }),
  ];
}

/** The body of POST /decisions. */
function bodyOf(posted: PostedForm, timeZone: string) {
  const one = readerOf(posted);
  const elements = [...(posted.elements ?? []), ...one('others').split(/\s+/)].filter(Boolean);
  const [object, asOf] = [one('object'), one('asOf')];
  return {
    subject: one('subject'),
    ...(object && { object }),
    ...(asOf && { asOf: instantOf(asOf, timeZone) }),
    questions: [
      ...elements.map((element) => ({ element })),
      ...(posted.purposes ?? []).map((purpose) => ({ purpose })),
    ],
  };
}

type DecisionBody = ReturnType<typeof bodyOf>;

/** A time on the clocks of the instance, as an instant. The API rejects any other text. */
function instantOf(text: string, timeZone: string): string {
  try {
    return Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).toInstant().toString();
  } catch {
    return text;
  }
}

/** The failure with each fault at its field, once. The API names the questions, which are several. */
function atFields(failure: ApiFailure): ApiFailure {
  const faults = failure.errors.map(({ pointer, ...fault }) => {
    const name = pointer.replace(/^\/questions\/\d+\/(?=subject|object|asOf)/, '/');
    if (name === '/asOf') return { detail: fault.detail, pointer: name, code: 'not-a-past-time' };
    if (name === '/questions') return { detail: fault.detail, pointer: name, code: 'question-count' };
    return { ...fault, pointer: name };
  });
  const errors = [...new Map(faults.map((fault) => [fault.pointer, fault])).values()];
  const { status, title, detail, retryAfter } = failure;
  return new ApiFailure(status, { title, detail, errors }, { retryAfter, cause: failure });
}

/** The decisions about elements, also those that make up one about a purpose. */
function aboutElements(decisions: Decisions['decisions']) {
  return decisions.flatMap((each) => ('decisions' in each ? each.decisions : each));
}

/** The transactions of the records that decide, by record. */
async function transactionsOf(ctx: Context, tools: RoomTools, name: string, { decisions }: Decisions) {
  const deciding = aboutElements(decisions).filter(({ record }) => record);
  if (deciding.length === 0) return new Map<string, string>();
  const elements = [...new Set(deciding.map(({ element }) => element))];
  const call = { params: { name }, query: { elements } };
  const { body } = await tools.api(ctx).call('listSubjectRecords', call);
  const records = Object.values(body).flat();
  return new Map(records.map(({ serial, transaction }) => [serial, transaction]));
}

function factsOf(reader: ConsoleReader, tools: RoomTools, { subject, object }: DecisionBody, asOf: string) {
  return factsView(reader, {
    'decisions.subject': { text: subject, href: subjectPath(tools, subject) },
    'record.object': object && { text: object },
    'decisions.asOf': { time: reader.time(asOf) },
  });
}

/** Reasons that an answer of the person can change: the same as those with `captureUrl`. */
const askable = ['NO_ANSWER', 'EXPIRED', 'NOTICE_CHANGED', 'CHANGED'];

/** Ways to an answer that is missing. */
function actsOf(ctx: Context, tools: RoomTools, { subject, object }: DecisionBody, { decisions }: Decisions) {
  const missing = aboutElements(decisions)
    .filter(({ reason }) => askable.includes(reason))
    .map(({ element }) => element);
  if (missing.length === 0) return [];
  const href = subjectPath(tools, subject);
  const elements = [...new Set(missing)].join(' ');
  const record = withQuery(`${href}/record`, { elements, o: object && tools.names.seal(object) });
  return actLinks(ctx, tools, [
    // A form has no object unless a program names it.
    { href: `${href}/link`, word: 'link.act', operation: 'createTransaction', when: !object },
    { href: record, word: 'record.act', operation: 'createSingleStepTransaction' },
  ]);
}
