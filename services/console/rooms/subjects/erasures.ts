import type Router from '@koa/router';
import type { Context } from 'koa';
import { unlessMissing } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import { factsView, shortTable } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor } from '../../pages/form.ts';
import { actPage, leadAbove } from '../../pages/form-page.ts';
import { listRoute } from '../../pages/list-page.ts';
import { stateMark } from '../../pages/states.ts';
import type { CellView } from '../../pages/table.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { subjectPath } from '../../people/subject-path.ts';
import { startedAs } from './erasure.ts';

type Erasure = Schemas['Erasure'];

const longestGround = 1_000;

/** The list of erasures; one of them with what peers and organisations have done, and its decision. */
export function requestedErasureRoutes(router: Router, tools: RoomTools): void {
  listRoute(router, tools, {
    path: '/erasures',
    operation: 'listErasures',
    words: 'erasures',
    columns: ({ text, state, time, number }, reader) => [
      text('erasures.requested', ({ created }) => reader.time(created).text, {
        href: ({ id }) => `${tools.path}/erasures/${id}`,
      }),
      state('erasures.state', 'erasureState', (erasure) => erasure.state, {
        note: ({ ground, at }) => (at ? reader.t('erasures.onlyAt') : ground),
      }),
      time('erasures.due', ({ due }) => due),
      number('erasures.records', ({ counts }) => counts.records),
      text('erasures.peers', ({ peers }) => reader.list(peers.map(({ name }) => name))),
    ],
  });

  router.get('/erasures/:erasure', async (ctx) => {
    const reader = tools.reader(ctx);
    const { body: erasure } = await tools.api(ctx).call('getErasure', { params: ctx.params });
    const isOpen = erasure.state === 'REQUESTED' && tools.may(ctx, 'decideErasure');
    const person = erasure.state === 'DONE' ? undefined : await findPerson(ctx, tools, erasure.subject);
    await tools.page(ctx, 'erasure', {
      title: reader.t('erasure.title', { date: reader.time(erasure.created).text }),
      facts: factsOf(reader, erasure, person && { text: person, href: subjectPath(tools, person) }),
      byPeer: erasure.peer !== undefined,
      peers: erasure.peers.length > 0 && toldTable(reader, 'peers', erasure.peers),
      recipients: erasure.recipients.length > 0 && toldTable(reader, 'recipients', erasure.recipients),
      ...(isOpen && decisionForms(ctx, reader)),
    });
  });

  const decisionForms = (ctx: Context, reader: ConsoleReader) => ({
    start: tools.form(ctx, {
      action: `${ctx.path}/start`,
      submit: reader.t('erasure.start'),
      tone: 'ending',
    }),
    refuse: tools.form(ctx, {
      action: `${ctx.path}/refuse`,
      submit: reader.t('erasure.refuse'),
      tone: 'plain',
      fields: [groundField(reader)],
    }),
  });

  const startPath = '/erasures/:erasure/start';
  router.post(startPath, async (ctx) => {
    const call = { params: ctx.params, body: { status: 'RUNNING' as const } };
    const { state } = (await tools.api(ctx).call('decideErasure', call)).body;
    tools.open(ctx, `${tools.path}/erasures/${String(ctx.params.erasure)}`, startedAs(state));
  });
  leadAbove(router, tools, startPath);
  // A page of its own shows the ground again after a failure, and after a sign-in.
  actPage(router, tools, {
    path: '/erasures/:erasure/refuse',
    operation: 'decideErasure',
    view: 'form',
    ask: (_, reader) => ({
      title: reader.t('erasure.refuse'),
      submit: reader.t('erasure.refuse'),
      fields: [groundField(reader)],
      locals: { text: reader.t('erasure.refuseText') },
    }),
    body: (field) => ({ status: 'REFUSED' as const, ground: field('ground') }),
    done: 'erasureRefused',
  });
}

function groundField(reader: ConsoleReader): FieldSpec {
  const rest = { kind: 'textarea', maxLength: longestGround, isRequired: true } as const;
  return fieldsFor(reader, 'erasure')('ground', rest);
}

/** The name of a person who is not erased yet. */
async function findPerson(ctx: Context, tools: RoomTools, name: string): Promise<string | undefined> {
  return (await unlessMissing(tools.api(ctx).call('getSubject', { params: { name } })))?.body.name;
}

/**
 * What the page of a person says of the erasure that was asked for here and is not over, with its page.
 * @returns undefined without one.
 */
export function openErasure(reader: ConsoleReader, path: string, erasures: readonly Erasure[]) {
  const open = erasures.find(
    ({ state, peer, at }) =>
      state !== 'DONE' && state !== 'REFUSED' && peer === undefined && at === undefined,
  );
  if (!open) return undefined;
  const state = stateMark(reader, 'erasureState', open.state).word;
  const text = reader.t('subjects.erasureDue', { state, date: reader.time(open.due).text });
  return { label: reader.t('subjects.erasure'), cell: { text, href: `${path}/erasures/${open.id}` } };
}

function factsOf(reader: ConsoleReader, erasure: Erasure, person: CellView | '' | undefined) {
  const { t } = reader;
  const { state, peer, at, created, due, done, reason, ground, counts } = erasure;
  return factsView(reader, {
    'erasures.person': person,
    'erasures.state': { state: stateMark(reader, 'erasureState', state) },
    'erasure.askedBy': peer ? { code: peer } : { text: t('erasure.nobody') },
    'erasures.requested': { time: reader.time(created) },
    'erasures.due': { time: reader.time(due) },
    'erasure.done': done && { time: reader.time(done) },
    'erasure.reason': reason && { text: reason },
    'erasure.ground': ground && { text: ground },
    'erasure.counts': state !== 'REQUESTED' && {
      text: at ? t('erasures.onlyAt') : t('erasure.counted', counts),
    },
  });
}

/** What a peer or an organisation has done. */
type Told = Pick<Erasure['peers'][number], 'name' | 'state' | 'since'> & {
  outcome?: string;
  location?: string;
  note?: string;
};

function toldTable(reader: ConsoleReader, whom: 'peers' | 'recipients', rows: readonly Told[]) {
  const stateOf = ({ state: told, outcome }: Told) => (outcome === 'kept' ? 'KEPT' : told);
  return shortTable(reader, `erasure.${whom}`, {
    rows,
    columns: ({ text, state, time }) => [
      text('erasure.organisation', ({ name }) => name, { note: ({ location }) => location }),
      state('erasures.state', 'noticeState', stateOf, { note: ({ note }) => note }),
      time('erasure.since', ({ since }) => since),
    ],
  });
}
