import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { sendCsv } from '../../pages/csv-export.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { type Column, tableView } from '../../pages/table.ts';
import type { Room } from '../room.ts';
import { transactionPath } from '../transactions/transaction-path.ts';
import { answerRoutes } from './answers.ts';
import { decisionRoutes, decisionsPath } from './decisions.ts';
import { erasureRoutes } from './erasure.ts';
import { requestedErasureRoutes } from './erasures.ts';
import { recordRoutes } from './record.ts';
import { subjectRoutes } from './subject.ts';
import { contactFields, subjectPath } from './subject-path.ts';

type Subject = components['schemas']['Subject'];

/** People who were asked: search, what each has answered, and answering on behalf. */
export const subjects: Room = {
  name: 'subjects',
  path: '/subjects',
  roles: ['operator'],
  views: [
    'list',
    'new',
    'answers',
    'subject',
    'record',
    'review',
    'erasures',
    'erasure',
    'decisions',
    'decided',
  ],
  routes(router, kit) {
    router.get('/', async (ctx) => {
      const reader = kit.reader(ctx);
      const filters = kit.filters(ctx, kit.path, [{ name: 's', kind: 'hidden' }]);
      const word = kit.names.open(filters.values.s);
      const read = async (cursor?: string) => {
        const query = { name: word, cursor } as object;
        const { body, next } = await kit.api(ctx).call('listSubjects', { query });
        return { rows: body, next };
      };
      const columns = columnsOf(reader, kit);
      if (ctx.query.format === 'csv') return sendCsv(ctx, 'subjects', columns, read);
      const cursor = kit.cursor(ctx);
      const { path } = kit;
      const caption = word ? reader.t('subjects.found', { word }) : reader.t('subjects.title');
      const page = await read(cursor);
      await kit.page(ctx, 'list', {
        title: caption,
        search: kit.form(ctx, {
          action: path,
          submit: reader.t('subjects.search'),
          fields: [{ name: 'word', label: reader.t('subjects.name'), isRequired: true }],
          values: { word },
        }),
        table: tableView(reader, { caption, columns, path, filters, cursor, ...page }),
        newUrl: kit.may(ctx, 'createSubject') && `${path}/new`,
        erasuresUrl: kit.may(ctx, 'listErasures') && `${path}/erasures`,
        answersUrl: `${path}/answers`,
        decisionsUrl: kit.may(ctx, 'decideQuestions') && decisionsPath(kit, ''),
      });
    });

    // A name is sent as a form, so that it is in no URL. The search of every page is sent here, too.
    router.post('/', async (ctx) => {
      const word = kit.posted(ctx).word?.[0]?.trim() ?? '';
      const transaction = await transactionPath(ctx, kit, word);
      if (transaction) return kit.open(ctx, transaction);
      kit.open(ctx, word ? `${kit.path}?s=${kit.names.seal(word)}` : kit.path);
    });

    const showNew = async (ctx: Context, failure?: ApiFailure) => {
      const reader = kit.reader(ctx);
      const form = kit.form(ctx, {
        action: `${kit.path}/new`,
        submit: reader.t('subjects.create'),
        cancelUrl: kit.path,
        fields: [
          {
            name: 'name',
            label: reader.t('subjects.name'),
            hint: reader.t('subjects.nameHint'),
            isRequired: true,
          },
          ...contactFields(reader),
        ],
        values: failure && kit.posted(ctx),
        failure,
      });
      await kit.page(ctx, 'new', { title: reader.t('subjects.new'), form }, failure?.status);
    };
    router.get('/new', (ctx) => showNew(ctx));
    router.post('/new', async (ctx) => {
      const { name = [''], emailAddress = [''], defaultLanguage = [''] } = kit.posted(ctx);
      const body = {
        name: name[0] ?? '',
        ...(emailAddress[0] && { emailAddress: emailAddress[0] }),
        ...(defaultLanguage[0] && { defaultLanguage: defaultLanguage[0] }),
      };
      try {
        const made = await kit.api(ctx).call('createSubject', { body });
        kit.open(ctx, subjectPath(kit, made.body.name), 'subjectMade');
      } catch (error) {
        if (!(error instanceof ApiFailure)) throw error;
        await showNew(ctx, error);
      }
    });

    answerRoutes(router, kit);
    decisionRoutes(router, kit);
    requestedErasureRoutes(router, kit);
    erasureRoutes(router, kit);
    subjectRoutes(router, kit);
    recordRoutes(router, kit);
  },
};

function columnsOf(reader: ConsoleReader, kit: RoomKit): Column<Subject>[] {
  return [
    {
      label: reader.t('subjects.name'),
      cell: ({ name }) => ({ text: name, href: subjectPath(kit, name) }),
      csv: ({ name }) => name,
    },
    {
      label: reader.t('subjects.email'),
      cell: ({ emailAddress = '–' }) => ({ text: emailAddress }),
      csv: ({ emailAddress }) => emailAddress ?? '',
    },
    {
      label: reader.t('subjects.language'),
      cell: ({ defaultLanguage }) => ({ text: defaultLanguage ? reader.languageName(defaultLanguage) : '–' }),
      csv: ({ defaultLanguage }) => defaultLanguage ?? '',
    },
    {
      label: reader.t('subjects.since'),
      cell: ({ creationTimestamp }) => ({ time: reader.time(creationTimestamp) }),
      csv: ({ creationTimestamp }) => new Date(creationTimestamp).toISOString(),
    },
  ];
}
