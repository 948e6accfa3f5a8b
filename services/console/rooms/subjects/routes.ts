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
  routes(router, kit) {
    router.use(sayErased(kit));
    router.get('/', async (ctx) => {
      const reader = kit.reader(ctx);
      const filters = kit.filters(ctx, kit.path, [{ name: 's', kind: 'hidden' }]);
      const word = kit.names.open(filters.values.s);
      const { path } = kit;
      const form = formIn(ctx);
      await sendList(ctx, kit, {
        view: 'list',
        title: word ? reader.t('subjects.found', { word }) : reader.t('subjects.title'),
        filters,
        columns: columnsOf(reader, (name) => placeOf(kit, name, form)),
        read: (cursor, limit) => findSubjects(ctx, kit, word, { cursor, limit }),
        csv: 'subjects',
        ...(word && { noMatch: reader.t('subjects.nothing', { word }) }),
        locals: {
          search: kit.form(ctx, {
            action: path,
            submit: reader.t('subjects.search'),
            tone: 'plain',
            fields: [fieldsFor(reader, 'subjects')('word', { isRequired: true })],
            values: { word },
            ...(form && { hidden: { form } }),
          }),
          isSending: form !== undefined,
          newUrl: kit.may(ctx, 'createSubject') && withQuery(`${path}/new`, { s: filters.values.s, form }),
          erasuresUrl: kit.may(ctx, 'listErasures') && `${path}/erasures`,
          answersUrl: `${path}/answers`,
          decisionsUrl: kit.may(ctx, 'decideQuestions') && decisionsPath(kit, ''),
        },
      });
    });

    // A name is sent as a form, so that it is in no URL. The search of every page is sent here, too.
    router.post('/', async (ctx) => {
      const field = fieldReader(ctx, kit);
      const [word, form] = [field('word'), field('form') || undefined];
      const transaction = await transactionPath(ctx, kit, word);
      if (transaction) return kit.open(ctx, transaction);
      const [one, another] = word ? (await findSubjects(ctx, kit, word, { limit: 2 })).rows : [];
      // A list of one person would be one more page to read.
      if (one && !another) return kit.open(ctx, placeOf(kit, one.name, form));
      kit.open(ctx, withQuery(kit.path, { s: word && kit.names.seal(word), form }));
    });

    newRoute(router, kit);
    answerRoutes(router, kit);
    decisionRoutes(router, kit);
    requestedErasureRoutes(router, kit);
    erasureRoutes(router, kit);
    releaseRoutes(router, kit);
    exportRoutes(router, kit);
    inviteRoutes(router, kit);
    subjectRoutes(router, kit);
    recordRoutes(router, kit);
    withdrawRoutes(router, kit);
    closeRoute(router, kit);
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
