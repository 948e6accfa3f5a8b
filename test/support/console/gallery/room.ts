import { ApiFailure } from '../../../../services/console/api/api-failure.ts';
import type { ConsoleReader } from '../../../../services/console/pages/console-reader.ts';
import { choicesOf } from '../../../../services/console/pages/filters.ts';
import type { FieldSpec, PostedForm } from '../../../../services/console/pages/form.ts';
import { formPage } from '../../../../services/console/pages/form-page.ts';
import { sendList } from '../../../../services/console/pages/list-page.ts';
import { stateMark } from '../../../../services/console/pages/states.ts';
import type { Column } from '../../../../services/console/pages/table.ts';
import type { RoomTools } from '../../../../services/console/pages/tools.ts';
import type { Room } from '../../../../services/console/rooms/room.ts';

interface Sample {
  name: string;
  state: string;
  since: string;
  count: number;
}

const states = ['CREATED', 'SUBMITTED', 'COMMITTED', 'CANCELLED'];
const pageSize = 10;

/** 25 rows, with a name that no column is wide enough for and one of a formula. */
const samples: Sample[] = Array.from({ length: 25 }, (_, index) => ({
  name: ['Bulletin', '=SUM(A1)', 'W'.repeat(60)][index] ?? `Row ${index + 1}`,
  state: states[index % states.length] as string,
  since: '2026-05-03T10:00:00Z',
  count: index * 1000,
}));

const columns = (reader: ConsoleReader): Column<Sample>[] => [
  {
    label: 'Name',
    cell: ({ name }) => ({ text: name, href: '/console/gallery/form' }),
    csv: ({ name }) => name,
  },
  {
    label: 'State',
    cell: ({ state }) => ({ state: stateMark(reader, 'transactionState', state) }),
    csv: ({ state }) => state,
  },
  { label: 'Since', cell: ({ since }) => ({ time: reader.time(since) }), csv: ({ since }) => since },
  {
    label: 'Count',
    isNumber: true,
    cell: ({ count }) => ({ number: reader.number(count) }),
    csv: ({ count }) => count,
  },
];

const fields: FieldSpec[] = [
  { name: 'name', label: 'Name', isRequired: true, hint: 'As people know it.' },
  { name: 'url', label: 'URL', kind: 'url', pointer: '/targetUrl' },
  { name: 'text', label: 'Text', kind: 'textarea' },
  {
    name: 'color',
    label: 'Colour',
    kind: 'select',
    options: [
      ['red', 'Red'],
      ['blue', 'Blue'],
    ],
  },
  {
    name: 'size',
    label: 'Size',
    kind: 'radios',
    options: [
      ['s', 'Small'],
      ['l', 'Large'],
    ],
  },
  {
    name: 'days',
    label: 'Days',
    kind: 'checks',
    options: [
      ['mo', 'Monday'],
      ['tu', 'Tuesday'],
    ],
  },
  { name: 'shared', label: 'Shared', kind: 'check' },
];

/** A room of the tools alone: every part that rooms are made from, in every state. */
export const gallery: Room = {
  name: 'gallery',
  folder: new URL('./', import.meta.url),
  path: '/gallery',
  reads: 'listVersions',
  views: ['list', 'form', 'code'],
  routes(router, tools) {
    router.get('/', async (ctx) => {
      const reader = tools.reader(ctx);
      const filters = tools.filters(ctx, tools.path, [
        { name: 'word', kind: 'text', label: 'Word' },
        {
          name: 'state',
          kind: 'choice',
          label: 'State',
          options: choicesOf(reader, 'transactionState', states),
        },
        { name: 'after', kind: 'date', label: 'After' },
      ]);
      const read = async (from = '0') => {
        const rows = find(filters.values).slice(Number(from), Number(from) + pageSize);
        const next = rows.length === pageSize ? String(Number(from) + pageSize) : undefined;
        return { rows: ctx.query.nothing ? [] : rows, next };
      };
      const list = { view: 'list', title: 'Samples', columns: columns(reader), csv: 'samples' };
      await sendList(ctx, tools, { ...list, filters, read });
    });
    router.get('/code', (ctx) => {
      const path = `${tools.path}/code`;
      const filters = tools.filters(ctx, path, [{ name: 'word', kind: 'text', label: 'Word' }]);
      return tools.page(ctx, 'code', { title: 'Code', path, filters, value: filters.values.word ?? 'one' });
    });
    router.get('/form', (ctx) => tools.page(ctx, 'form', { title: 'Sample', form: formOf(ctx, tools, {}) }));
    router.post('/form', (ctx) => save(ctx, tools));
    formPage(router, tools, {
      path: '/delete',
      isEnding: true,
      ask: () => ({
        title: 'Delete the sample?',
        effects: ['4,120 answers stop counting.', 'Nothing can bring them back.'],
        submit: 'Delete',
      }),
      send: async () => undefined,
      done: 'deleted',
    });
    router.get('/failure', (ctx) => {
      throw new ApiFailure(Number(ctx.query.status), { detail: 'Not today.' }, { retryAfter: 7 });
    });
  },
};

function find({ word = '', state = '' }: Readonly<Record<string, string>>): Sample[] {
  return samples.filter((each) => each.name.includes(word) && (state === '' || each.state === state));
}

type Ctx = Parameters<RoomTools['form']>[0];

function formOf(ctx: Ctx, tools: RoomTools, values: PostedForm, failure?: ApiFailure) {
  const once = tools.once.make();
  return tools.form(ctx, { action: '/console/gallery/form', submit: 'Save', fields, values, failure, once });
}

async function save(ctx: Ctx, tools: RoomTools): Promise<void> {
  const values = tools.posted(ctx);
  try {
    const result = await tools.once.run(values.once?.[0], async () => check(values));
    if (result === 'repeated') return tools.open(ctx, tools.path, 'repeated');
    await tools.secret(ctx, {
      title: 'The key',
      text: 'Copy it now: it is shown this once.',
      label: 'Key',
      value: 'k_1234567890',
      next: { href: tools.path, word: 'Go on' },
    });
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    const form = formOf(ctx, tools, values, error);
    await tools.page(ctx, 'form', { title: 'Sample', form }, error.status);
  }
}

function check(values: PostedForm): void {
  if (values.name?.[0]) return;
  throw new ApiFailure(422, {
    errors: [
      { pointer: '/name', code: 'required', detail: 'is required' },
      { pointer: '/targetUrl', code: 'invalid', detail: 'must be an http or https URL' },
      { pointer: '/other', code: 'invalid', detail: 'is not known' },
    ],
  });
}
