import type { Context } from 'koa';
import type { Schemas } from '../../api/api-types.ts';
import { columnsFor } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import { fieldsFor } from '../../pages/form.ts';
import { actPage, fieldReader } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { sendList } from '../../pages/list-page.ts';
import type { Column } from '../../pages/table.ts';
import type { Room } from '../room.ts';
import { transactionPath } from '../transactions/find-transaction.ts';
import { answerRoutes } from './answers.ts';
import { withdrawRoutes } from './consents.ts';
import { decisionRoutes, decisionsPath } from './decisions.ts';
import { erasureRoutes } from './erasure.ts';
import { requestedErasureRoutes } from './erasures.ts';
import { exportRoutes } from './exports.ts';
import { inviteRoutes } from './invite.ts';
import { recordRoutes } from './record.ts';
import { releaseRoutes } from './release.ts';
import { sayErased, subjectRoutes } from './subject.ts';
import { contactFields, subjectPath } from './subject-path.ts';

type Subject = Schemas['Subject'];

/** People who were asked: search, what each has answered, and answering on behalf. */
export const subjects: Room = {
  name: 'subjects',
  path: '/subjects',
  reads: 'listSubjects',
  views: [
    'list',
    'answers',
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
      // Who was named whole is meant, and needs no list.
      if (one && !another && (one.name === word || saysContact(word)))
        return kit.open(ctx, placeOf(kit, one.name, form));
      kit.open(ctx, withQuery(kit.path, { s: word && kit.names.seal(word), form }));
    });

    actPage(router, kit, {
      path: '/new',
      operation: 'createSubject',
      view: 'form',
      isCreating: true,
      ask(ctx, reader) {
        // What was searched for in vain.
        const word = typeof ctx.query.s === 'string' ? kit.names.open(ctx.query.s) : undefined;
        return {
          title: reader.t('subjects.new'),
          submit: reader.t('subjects.create'),
          fields: [fieldsFor(reader, 'subjects')('name', { isRequired: true }), ...contactFields(reader)],
          values: { name: word, ...(word?.includes('@') && { emailAddress: word }) },
          hidden: { form: formIn(ctx) ?? '' },
        };
      },
      body(field) {
        const [emailAddress, defaultLanguage] = [field('emailAddress'), field('defaultLanguage')];
        const contact = {
          ...(emailAddress && { emailAddress }),
          ...(defaultLanguage && { defaultLanguage }),
        };
        return { name: field('name'), ...contact };
      },
      async done(ctx, { body: { name, emailAddress } }) {
        const same = emailAddress ? (await findSubjects(ctx, kit, emailAddress, { limit: 2 })).rows : [];
        const done = same.length > 1 ? 'subjectMadeTwice' : 'subjectMade';
        kit.open(ctx, placeOf(kit, name, fieldReader(ctx, kit)('form') || undefined), done);
      },
    });

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
  },
};

/**
 * Subjects with this address, which is what people say who call; without any, and for other words, those with
 * a text in their name.
 */
async function findSubjects(
  ctx: Context,
  kit: RoomKit,
  word: string | undefined,
  page: { cursor?: string | undefined; limit?: number | undefined },
) {
  const api = kit.api(ctx);
  if (word && saysContact(word)) {
    const found = await api.list('listSubjects', { query: { contact: word }, page });
    if (found.rows.length > 0) return found;
  }
  return api.list('listSubjects', { query: { name: word }, page });
}

/** Whether a word may be an e-mail address or a telephone number. */
function saysContact(word: string): boolean {
  return /@|\d{4}/.test(word);
}

/** The form that is to be sent to a person who is chosen or added here: its key. */
function formIn(ctx: Context): string | undefined {
  return [ctx.query.form].flat()[0] || undefined;
}

/** Where a chosen person leads: to their page, or to the sending of a form. */
function placeOf(kit: RoomKit, name: string, form: string | undefined): string {
  const path = subjectPath(kit, name);
  return form ? withQuery(`${path}/link`, { form }) : path;
}

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
