import type Router from '@koa/router';
import type { Context } from 'koa';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { entryChoices } from '../../models/read-model.ts';
import { withQuery } from '../../pages/filters.ts';
import { fieldsFor, languageChoices, type PostedForm } from '../../pages/form.ts';
import { sendFrame } from '../../pages/frame.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { nameOf } from '../../people/subject-path.ts';
import { firstAsked, knownLanguage, languagesOf } from './first-asked.ts';
import { elementsOfForm, listAskable, type Question, readQuestions } from './questions.ts';
import { type Asked, atScan, bodyOf, faultsOf, fieldsOf, layoutOf, readAsked } from './record-fields.ts';

/** Answering on behalf: what is asked, the answers beside the form, a review, and the record. */
export function recordRoutes(router: Router, tools: RoomTools): void {
  router.use('/:s/record', (ctx, next) => {
    tools.require(ctx, 'createSingleStepTransaction');
    return next();
  });

  router.get('/:s/record', async (ctx) => {
    const named = askedIn(ctx);
    const isNamed = named.form !== '' || named.elements.length > 0;
    const isChoice = !isNamed && ctx.query.choose !== undefined;
    const asked = isNamed
      ? named
      : isChoice
        ? undefined
        : await firstAsked(ctx, tools, nameOf(ctx, tools).name);
    await (asked ? showAnswers(ctx, asked) : showChoice(ctx));
  });

  // The form as the person would see it, with all that is to be read out.
  router.get('/:s/record/form', async (ctx) => {
    const asked = askedIn(ctx);
    const body = { ...layoutOf(asked), ...(asked.language && { language: asked.language }) };
    sendFrame(ctx, { html: await tools.api(ctx).page('previewForm', { body }) });
  });

  router.post('/:s/record', async (ctx) => {
    const given = tools.posted(ctx);
    const asked = askedIn(ctx);
    const op = given.op?.[0];
    if (op === 'edit') return showAnswers(ctx, asked);
    const questions = await read(ctx, asked);
    const errors = faultsOf(questions, given, tools.timeZone);
    if (errors.length > 0) return showAnswers(ctx, asked, new ApiFailure(422, { errors }));
    try {
      if (op !== 'send') return await showReview(ctx, questions, await withScan(ctx, given));
      await send(ctx, asked, questions);
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showAnswers(ctx, asked, error);
    }
  });

  const send = async (ctx: Context, asked: Asked, questions: readonly Question[]) => {
    const { name, href } = nameOf(ctx, tools);
    const posted = tools.posted(ctx);
    const body = bodyOf(name, asked, questions, posted);
    const made = await tools.once.run(posted.once?.[0], () =>
      tools.api(ctx).call('createSingleStepTransaction', { body }),
    );
    if (made === 'repeated') return tools.open(ctx, href, 'repeated');
    tools.open(ctx, href, made.made.status === 200 ? 'alreadyRecorded' : 'recorded');
  };

  /** Uploads the scan, so that the review has it. */
  const withScan = async (ctx: Context, given: PostedForm): Promise<PostedForm> => {
    const file = tools.file(ctx, 'scan');
    if (!file) return given;
    try {
      const { body } = await tools.api(ctx).call('uploadDocument', { file });
      return { ...given, document: [body.sha256], documentName: [file.name] };
    } catch (error) {
      throw error instanceof ApiFailure ? atScan(error) : error;
    }
  };

  /** Also a form that was kept during a sign-in names what it asks. */
  const askedIn = (ctx: Context): Asked => {
    const given = ctx.method === 'POST' ? tools.posted(ctx) : (tools.kept(ctx) ?? {});
    return readAsked((name) => given[name] ?? [ctx.query[name] ?? []].flat());
  };

  const read = async (ctx: Context, { form, elements, language }: Asked) => {
    const keys = form ? await elementsOfForm(ctx, tools, form) : elements;
    return readQuestions(ctx, tools, keys, language || tools.reader(ctx).language);
  };

  const showChoice = async (ctx: Context) => {
    const { name, href } = nameOf(ctx, tools);
    const reader = tools.reader(ctx);
    const field = fieldsFor(reader, 'record');
    const [{ forms, elements }, known] = await Promise.all([
      listAskable(ctx, tools),
      knownLanguage(ctx, tools, name),
    ]);
    const languages = languagesOf([...forms, ...elements]);
    const none = [['', reader.t('record.noForm')] as const];
    const choices = forms.length > 0 ? entryChoices(forms) : none;
    const language = lookupLanguage([...known, reader.language], languages);
    await tools.page(ctx, 'record', {
      title: reader.t('record.title', { name }),
      action: `${href}/record`,
      cancelUrl: href,
      choice: tools.form(ctx, {
        action: `${href}/record`,
        submit: reader.t('record.next'),
        fields: [
          field('form', {
            kind: 'select',
            options: choices,
          }),
          field('elements', { kind: 'checks', options: entryChoices(elements) }),
          field('language', { kind: 'select', options: languageChoices(reader, languages) }),
        ],
        values: { form: forms[0]?.key, language },
      }),
    });
  };

  const showAnswers = async (ctx: Context, asked: Asked, failure?: ApiFailure) => {
    const { name, href } = nameOf(ctx, tools);
    const reader = tools.reader(ctx);
    const questions = await read(ctx, asked);
    if (questions.length === 0) return showChoice(ctx);
    const posted = ctx.method === 'POST' ? tools.posted(ctx) : undefined;
    const { form, language } = asked;
    const elements = asked.elements.join(' ');
    const [document = '', documentName = ''] = ['document', 'documentName'].map(
      (each) => posted?.[each]?.[0],
    );
    const view = tools.form(ctx, {
      action: `${href}/record`,
      submit: reader.t('record.review'),
      cancelUrl: href,
      fields: fieldsOf(reader, questions, documentName),
      values: posted ?? { object: tools.names.open(ctx.query.o) },
      failure,
      hidden: { form, elements, language, document, documentName, op: 'review' },
    });
    const query = new URLSearchParams({ form, elements, language });
    await tools.page(
      ctx,
      'answering',
      {
        title: reader.t('record.title', { name }),
        form: view,
        choiceUrl: withQuery(`${href}/record`, { choose: 'yes' }),
        frame: { url: `${href}/record/form?${query}`, title: reader.t('record.frame') },
      },
      failure?.status,
    );
  };

  const showReview = async (ctx: Context, questions: Question[], given: PostedForm) => {
    const { name, href } = nameOf(ctx, tools);
    const reader = tools.reader(ctx);
    const fields = fieldsOf(reader, questions, given.documentName?.[0]);
    const facts = fields.flatMap(({ name: field, label, kind, options }) => {
      const values = (kind === 'file' ? given.documentName : given[field]) ?? [];
      const words = values
        .filter(Boolean)
        .map((each) =>
          kind === 'date'
            ? reader.plainDate(each)
            : (options?.find(([value]) => value === each)?.[1] ?? each),
        );
      if (kind === 'check') return [];
      const isQuestion = questions.some(({ identifier }) => identifier === field);
      const text = words.length > 0 ? reader.list(words) : isQuestion && reader.t('record.noAnswer');
      return text ? { label, cell: { text } } : [];
    });
    const values = Object.entries(given).filter(([field]) => field !== 'op' && field !== 'once');
    await tools.page(ctx, 'review', {
      title: reader.t('record.reviewOf', { name }),
      facts,
      action: `${href}/record`,
      values: values.flatMap(([field, each]) => each.map((value) => ({ field, value }))),
      once: tools.once.make(),
    });
  };
}
