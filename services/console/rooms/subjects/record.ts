import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { entryChoices } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor, type PostedForm, readerOf, wordChoices } from '../../pages/form.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { ways } from './consents.ts';
import { answerWord, elementsOfForm, listAskable, type Question, readQuestions } from './questions.ts';
import { nameOf } from './subject-path.ts';

/** What is asked: a form, or elements. */
interface Asked {
  form: string;
  elements: readonly string[];
}

/** Answering on behalf: what is asked, the answers, a review, and the record. */
export function recordRoutes(router: Router, kit: RoomKit): void {
  router.get('/:s/record', async (ctx) => {
    const asked = askedIn(ctx, kit);
    await (asked.form || asked.elements.length > 0 ? showAnswers(ctx, asked) : showChoice(ctx));
  });

  router.post('/:s/record', async (ctx) => {
    const posted = kit.posted(ctx);
    const asked = askedIn(ctx, kit);
    const op = posted.op?.[0];
    if (op === 'edit') return showAnswers(ctx, asked);
    const questions = await read(ctx, asked);
    const lacking = lackingFields(questions, posted);
    if (lacking.length > 0) return showAnswers(ctx, asked, requiredFailure(lacking));
    if (op !== 'send') return showReview(ctx, questions);
    const { name } = nameOf(ctx, kit);
    try {
      const body = bodyOf(name, asked, questions, posted);
      const made = await kit.once.run(posted.once?.[0], () =>
        kit.api(ctx).call('createSingleStepTransaction', { body }),
      );
      if (made === 'repeated') return kit.open(ctx, nameOf(ctx, kit).href, 'repeated');
      const { status, body: transaction } = made.made;
      kit.open(
        ctx,
        `/console/transactions/${transaction.id}`,
        status === 200 ? 'alreadyRecorded' : 'recorded',
      );
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showAnswers(ctx, asked, error);
    }
  });

  /** Also a form that was kept during a sign-in names what it asks. */
  const askedIn = (ctx: Context, { posted, kept }: RoomKit): Asked => {
    const given: PostedForm = ctx.method === 'POST' ? posted(ctx) : (kept(ctx) ?? {});
    const one = (name: string) => given[name] ?? [ctx.query[name] ?? []].flat();
    return {
      form: one('form')[0] ?? '',
      elements: one('elements')
        .flatMap((each) => each.split(' '))
        .filter(Boolean),
    };
  };

  const read = async (ctx: Context, { form, elements }: Asked) => {
    const keys = form ? await elementsOfForm(ctx, kit, form) : elements;
    return readQuestions(ctx, kit, keys, kit.reader(ctx).language);
  };

  const showChoice = async (ctx: Context) => {
    const { name, href } = nameOf(ctx, kit);
    const reader = kit.reader(ctx);
    const { t } = reader;
    const field = fieldsFor(reader, 'record');
    const { forms, elements } = await listAskable(ctx, kit);
    await kit.page(ctx, 'record', {
      title: t('record.title', { name }),
      action: `${href}/record`,
      cancelUrl: href,
      choice: kit.form(ctx, {
        action: `${href}/record`,
        submit: t('record.next'),
        fields: [
          field('form', { kind: 'select', options: [['', t('record.noForm')], ...entryChoices(forms)] }),
          field('elements', { kind: 'checks', options: entryChoices(elements) }),
        ],
      }),
    });
  };

  const showAnswers = async (ctx: Context, asked: Asked, failure?: ApiFailure) => {
    const { name, href } = nameOf(ctx, kit);
    const reader = kit.reader(ctx);
    const questions = await read(ctx, asked);
    if (questions.length === 0) return showChoice(ctx);
    const form = kit.form(ctx, {
      action: `${href}/record`,
      submit: reader.t('record.review'),
      cancelUrl: href,
      fields: fieldsOf(reader, questions),
      values: ctx.method === 'POST' ? kit.posted(ctx) : { object: kit.names.open(ctx.query.o) },
      failure,
      hidden: { form: asked.form, elements: asked.elements.join(' '), op: 'review' },
    });
    await kit.page(ctx, 'form', { title: reader.t('record.title', { name }), form }, failure?.status);
  };

  const showReview = async (ctx: Context, questions: Question[]) => {
    const { name, href } = nameOf(ctx, kit);
    const reader = kit.reader(ctx);
    const posted = kit.posted(ctx);
    const fields = fieldsOf(reader, questions);
    const facts = fields.flatMap(({ name: field, label, options }) => {
      const values = posted[field] ?? [];
      const words = values.map((each) => options?.find(([value]) => value === each)?.[1] ?? each);
      return words.join('') ? { label, cell: { text: reader.list(words) } } : [];
    });
    const values = Object.entries(posted).filter(([field]) => field !== 'op' && field !== 'once');
    await kit.page(ctx, 'review', {
      title: reader.t('record.reviewOf', { name }),
      facts,
      action: `${href}/record`,
      values: values.flatMap(([field, given]) => given.map((value) => ({ field, value }))),
      once: kit.once.make(),
    });
  };
}

/** The fields: one for each question, then how the answers came. */
function fieldsOf(reader: ConsoleReader, questions: readonly Question[]): FieldSpec[] {
  const { t } = reader;
  const field = fieldsFor(reader, 'record');
  const validities = ['', 'P3M', 'P6M', 'P1Y', 'P2Y', 'P5Y'].map(
    (each) => [each, t(`record.validity.${each || 'usual'}`)] as const,
  );
  return [
    ...questions.map(({ identifier, text, options, isMultiple }): FieldSpec => {
      const kind = options ? (isMultiple ? 'checks' : 'radios') : 'textarea';
      const words = options?.map((each) => [each, answerWord(reader, each)] as const);
      const pointer = pointerOf(identifier);
      return { name: identifier, label: text, kind, pointer, ...(words && { options: words }) };
    }),
    field('way', { kind: 'select', options: wordChoices(reader, 'record.way', ways), isRequired: true }),
    field('comment', { kind: 'textarea', isRequired: true }),
    field('reference'),
    field('object', { pointer: '/context/object' }),
    field('validity', { kind: 'select', options: validities }),
  ];
}

/** Pointers of what must be filled in: the comment, and one answer at least. */
function lackingFields(questions: readonly Question[], posted: PostedForm): string[] {
  const isAnswered = questions.some(({ identifier }) => posted[identifier]?.some((each) => each !== ''));
  return [
    ...(isAnswered ? [] : [pointerOf(questions[0]?.identifier ?? '')]),
    ...(posted.comment?.[0]?.trim() ? [] : ['/comment']),
  ];
}

/** The JSON pointer of an answer in the body (RFC 6901). */
function pointerOf(identifier: string): string {
  return `/values/${identifier.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function requiredFailure(pointers: readonly string[]): ApiFailure {
  const errors = pointers.map((pointer) => ({ pointer, code: 'required', detail: '' }));
  return new ApiFailure(422, { errors });
}

/** The body of POST /consents/singlestep; own elements are asked as an inline layout. */
function bodyOf(
  subject: string,
  { form, elements }: Asked,
  questions: readonly Question[],
  posted: PostedForm,
) {
  const one = readerOf(posted);
  const answers = questions.flatMap(({ identifier }) => {
    const values = (posted[identifier] ?? []).filter(Boolean);
    return values.length > 0 ? [[identifier, values] as const] : [];
  });
  const attributes = { way: one('way'), ...(one('reference') && { reference: one('reference') }) };
  const asked = form ? { layout: form } : { layoutData: { elements: [...elements] } };
  return {
    context: {
      subject,
      ...asked,
      origin: 'OPERATOR' as const,
      attributes,
      ...(one('object') && { object: one('object') }),
      ...(one('validity') && { validity: one('validity') }),
    },
    values: { ...Object.fromEntries(answers), comment: one('comment') },
  };
}
