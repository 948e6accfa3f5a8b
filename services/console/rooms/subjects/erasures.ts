import type Router from '@koa/router';
import type { Context } from 'koa';
import type { ApiFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import { factsView, shortTable } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { fieldsFor } from '../../pages/form.ts';
import { buttonAct, fieldReader, leadAbove, orShowAgain } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { listRoute } from '../../pages/list-page.ts';
import { stateMark } from '../../pages/states.ts';

type Erasure = Schemas['Erasure'];

const longestGround = 1_000;

/** The list of erasures; one of them with what peers and organisations have done, and its decision. */
export function requestedErasureRoutes(router: Router, kit: RoomKit): void {
  const urlOf = (ctx: Context) => `${kit.path}/erasures/${ctx.params.erasure}`;

  listRoute(router, kit, {
    path: '/erasures',
    operation: 'listErasures',
    words: 'erasures',
    columns: ({ text, state, time, number }, reader) => [
      text('erasures.requested', ({ created }) => reader.time(created).text, {
        href: ({ id }) => `${kit.path}/erasures/${id}`,
      }),
      state('erasures.state', 'erasureState', (erasure) => erasure.state, { note: ({ ground }) => ground }),
      time('erasures.due', ({ due }) => due),
      number('erasures.records', ({ counts }) => counts.records),
      text('erasures.peers', ({ peers }) => reader.list(peers.map(({ name }) => name))),
    ],
  });

  const show = async (ctx: Context, failure?: ApiFailure) => {
    const reader = kit.reader(ctx);
    const { body: erasure } = await kit.api(ctx).call('getErasure', { params: ctx.params });
    const isOpen = erasure.state === 'REQUESTED' && kit.may(ctx, 'decideErasure');
    const locals = {
      title: reader.t('erasure.title', { date: reader.time(erasure.created).text }),
      facts: factsOf(reader, erasure),
      byPeer: erasure.peer !== undefined,
      peers: erasure.peers.length > 0 && toldTable(reader, 'peers', erasure.peers),
      recipients: erasure.recipients.length > 0 && toldTable(reader, 'recipients', erasure.recipients),
      ...(isOpen && decisionForms(ctx, reader, failure)),
    };
    await kit.page(ctx, 'erasure', locals, failure?.status);
  };
  router.get('/erasures/:erasure', (ctx) => show(ctx));

  function decisionForms(ctx: Context, reader: ConsoleReader, failure: ApiFailure | undefined) {
    const { t } = reader;
    const rest = { kind: 'textarea', maxLength: longestGround, isRequired: true } as const;
    const ground = fieldsFor(reader, 'erasure')('ground', rest);
    return {
      start: kit.form(ctx, {
        action: `${urlOf(ctx)}/start`,
        submit: t('erasure.start'),
        tone: 'ending',
      }),
      refuse: kit.form(ctx, {
        action: `${urlOf(ctx)}/refuse`,
        submit: t('erasure.refuse'),
        fields: [ground],
        values: failure ? kit.posted(ctx) : {},
        failure,
      }),
    };
  }

  buttonAct(router, kit, {
    path: '/erasures/:erasure/start',
    operation: 'decideErasure',
    body: () => ({ status: 'RUNNING' as const }),
    done: 'erasing',
  });
  router.post(
    '/erasures/:erasure/refuse',
    orShowAgain(show, async (ctx) => {
      const body = { status: 'REFUSED' as const, ground: fieldReader(ctx, kit)('ground') };
      await kit.api(ctx).call('decideErasure', { params: ctx.params, body });
      kit.open(ctx, urlOf(ctx), 'erasureRefused');
    }),
  );
  leadAbove(router, kit, '/erasures/:erasure/refuse');
}

function factsOf(reader: ConsoleReader, erasure: Erasure) {
  const { t } = reader;
  const { state, peer, created, due, done, reason, ground, counts } = erasure;
  return factsView(reader, {
    'erasures.state': { state: stateMark(reader, 'erasureState', state) },
    'erasure.askedBy': peer ? { code: peer } : { text: t('erasure.nobody') },
    'erasures.requested': { time: reader.time(created) },
    'erasures.due': { time: reader.time(due) },
    'erasure.done': done && { time: reader.time(done) },
    'erasure.reason': reason && { text: reason },
    'erasure.ground': ground && { text: ground },
    'erasure.counts': { text: t('erasure.counted', counts) },
  });
}

/** What a peer or an organisation has done. */
type Told = Pick<Erasure['peers'][number], 'name' | 'state' | 'since'> & {
  outcome?: string;
  location?: string;
  note?: string;
};

function toldTable(reader: ConsoleReader, file: 'peers' | 'recipients', rows: readonly Told[]) {
  const stateOf = ({ state: told, outcome }: Told) => (outcome === 'kept' ? 'KEPT' : told);
  return shortTable(reader, `erasure.${file}`, {
    file,
    rows,
    columns: ({ text, state, time }) => [
      text('erasure.organisation', ({ name }) => name, { note: ({ location }) => location }),
      state('erasures.state', 'noticeState', stateOf, { note: ({ note }) => note }),
      time('erasure.since', ({ since }) => since),
    ],
  });
}
