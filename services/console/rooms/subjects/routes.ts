import type { Schemas } from '../../api/api-types.ts';
import { columnsFor } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import { fieldsFor } from '../../pages/form.ts';
import { fieldReader } from '../../pages/form-page.ts';
import { sendList } from '../../pages/list-page.ts';
import type { Column } from '../../pages/table.ts';
import { transactionPath } from '../../people/find-transaction.ts';
import type { Room } from '../room.ts';
import { answerRoutes } from './answers.ts';
import { withdrawRoutes } from './consents.ts';
import { decisionRoutes, decisionsPath } from './decisions.ts';
import { erasureRoutes } from './erasure.ts';
import { requestedErasureRoutes } from './erasures.ts';
import { exportRoutes } from './exports.ts';
import { findSubjects, formIn, placeOf } from './find-subjects.ts';
import { inviteRoutes } from './invite.ts';
import { newRoute } from './new-subject.ts';
import { recordRoutes } from './record.ts';
import { releaseRoutes } from './release.ts';
import { closeRoute } from './still-open.ts';
import { sayErased, subjectRoutes } from './subject.ts';

type Subject = Schemas['Subject'];

/** People who were asked: search, what each has answered, and answering on behalf. */
export const subjects: Room = {
  name: 'subjects',
  path: '/subjects',
  reads: 'listSubjects',
  views: [
    'list',
    'answers',
    'new',
    'subject',
    'record',
    'answering',
    'review',
    'erasure',
    'release',
    'erased',
    'decisions',
    'decided',
  ],
  routes(router, tools) {
    router.use(sayErased(tools));
    router.get('/', async (ctx) => {
      const reader = tools.reader(ctx);
      const filters = tools.filters(ctx, tools.path, [{ name: 's', kind: 'hidden' }]);
      const word = tools.names.open(filters.values.s);
      const { path } = tools;
      const form = formIn(ctx);
      await sendList(ctx, tools, {
        view: 'list',
        title: word ? reader.t('subjects.found', { word }) : reader.t('subjects.title'),
        filters,
        columns: columnsOf(reader, (name) => placeOf(tools, name, form)),
        read: (cursor, limit) => findSubjects(ctx, tools, word, { cursor, limit }),
        csv: 'subjects',
        ...(word && { noMatch: reader.t('subjects.nothing', { word }) }),
        locals: {
          search: tools.form(ctx, {
            action: path,
            submit: reader.t('subjects.search'),
            tone: 'plain',
            fields: [fieldsFor(reader, 'subjects')('word', { isRequired: true })],
            values: { word },
            ...(form && { hidden: { form } }),
          }),
          isSending: form !== undefined,
          newUrl: tools.may(ctx, 'createSubject') && withQuery(`${path}/new`, { s: filters.values.s, form }),
          erasuresUrl: tools.may(ctx, 'listErasures') && `${path}/erasures`,
          answersUrl: `${path}/answers`,
          decisionsUrl: tools.may(ctx, 'decideQuestions') && decisionsPath(tools, ''),
        },
      });
    });

    // A name is sent as a form, so that it is in no URL. The search of every page is sent here, too.
    router.post('/', async (ctx) => {
      const field = fieldReader(ctx, tools);
      const [word, form] = [field('word'), field('form') || undefined];
      const transaction = await transactionPath(ctx, tools, word);
      if (transaction) return tools.open(ctx, transaction);
      const [one, another] = word ? (await findSubjects(ctx, tools, word, { limit: 2 })).rows : [];
      // A list of one person would be one more page to read.
      if (one && !another) return tools.open(ctx, placeOf(tools, one.name, form));
      tools.open(ctx, withQuery(tools.path, { s: word && tools.names.seal(word), form }));
    });

    newRoute(router, tools);
    answerRoutes(router, tools);
    decisionRoutes(router, tools);
    requestedErasureRoutes(router, tools);
    erasureRoutes(router, tools);
    releaseRoutes(router, tools);
    exportRoutes(router, tools);
    inviteRoutes(router, tools);
    subjectRoutes(router, tools);
    recordRoutes(router, tools);
    withdrawRoutes(router, tools);
    closeRoute(router, tools);
  },
};

function columnsOf(reader: ConsoleReader, hrefOf: (name: string) => string): Column<Subject>[] {
  const { text, time } = columnsFor<Subject>(reader);
  return [
    text('subjects.name', ({ name }) => name, { href: ({ name }) => hrefOf(name) }),
    text('subjects.email', ({ emailAddress }) => emailAddress),
    {
      label: reader.t('subjects.language'),
      cell: ({ defaultLanguage }) => ({ text: defaultLanguage ? reader.languageName(defaultLanguage) : '–' }),
      csv: ({ defaultLanguage }) => defaultLanguage ?? '',
    },
    time('subjects.since', ({ creationTimestamp }) => creationTimestamp),
  ];
}
