import type Router from '@koa/router';
import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { stateMark } from '../../pages/states.ts';
import { type Column, tableView } from '../../pages/table.ts';

type Erasure = components['schemas']['Erasure'];

const longestGround = 1_000;

/** The list of erasures; one of them with what peers and organisations have done, and its decision. */
export function requestedErasureRoutes(router: Router, kit: RoomKit): void {
  const path = `${kit.path}/erasures`;
  const urlOf = (ctx: Context) => `${path}/${ctx.params.id}`;
  const paramsOf = (ctx: Context) => ({ params: { erasure: ctx.params.id as string } });

  router.get('/erasures', async (ctx) => {
    const reader = kit.reader(ctx);
    const cursor = kit.cursor(ctx);
    const { body: rows, next } = await kit.api(ctx).call('listErasures', { query: { cursor } as object });
    const title = reader.t('erasures.title');
    const columns = columnsOf(reader, path);
    await kit.page(ctx, 'erasures', {
      title,
      table: tableView(reader, { caption: title, columns, path, rows, next, cursor }),
    });
  });

  const show = async (ctx: Context, failure?: ApiFailure) => {
    const reader = kit.reader(ctx);
    const { body: erasure } = await kit.api(ctx).call('getErasure', paramsOf(ctx));
    const isOpen = erasure.state === 'REQUESTED' && kit.may(ctx, 'decideErasure');
    const locals = {
      title: reader.t('erasure.title', { date: reader.time(erasure.created).text }),
      facts: factsOf(reader, erasure),
      byPeer: erasure.peer !== undefined,
      peers: erasure.peers.length > 0 && peerTable(reader, erasure.peers),
      recipients: erasure.recipients.length > 0 && recipientTable(reader, erasure.recipients),
      ...(isOpen && decisionForms(ctx, reader, failure)),
    };
    await kit.page(ctx, 'erasure', locals, failure?.status);
  };
  router.get('/erasures/:id', (ctx) => show(ctx));

  function decisionForms(ctx: Context, { t }: ConsoleReader, failure: ApiFailure | undefined) {
    const ground = {
      name: 'ground',
      label: t('erasure.ground'),
      hint: t('erasure.groundHint'),
      kind: 'textarea' as const,
      maxLength: longestGround,
      isRequired: true,
    };
    return {
      start: kit.form(ctx, {
        action: `${urlOf(ctx)}/start`,
        submit: t('erasure.start'),
        tone: 'ending',
        fields: [],
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

  router.post('/erasures/:id/start', async (ctx) => {
    await kit.api(ctx).call('decideErasure', { ...paramsOf(ctx), body: { status: 'RUNNING' } });
    kit.open(ctx, urlOf(ctx), 'erasing');
  });

  router.post('/erasures/:id/refuse', async (ctx) => {
    const { ground = [''] } = kit.posted(ctx);
    try {
      const body = { status: 'REFUSED' as const, ground: ground[0] ?? '' };
      await kit.api(ctx).call('decideErasure', { ...paramsOf(ctx), body });
      kit.open(ctx, urlOf(ctx), 'erasureRefused');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await show(ctx, error);
    }
  });

  // Forms without a page of their own that were kept during a sign-in lead to the erasure.
  for (const act of ['start', 'refuse'])
    router.get(`/erasures/:id/${act}`, (ctx) => kit.open(ctx, urlOf(ctx)));
}

function columnsOf(reader: ConsoleReader, path: string): Column<Erasure>[] {
  const { t } = reader;
  return [
    {
      label: t('erasures.requested'),
      cell: ({ id, created }) => ({ text: reader.time(created).text, href: `${path}/${id}` }),
    },
    {
      label: t('erasures.state'),
      cell: ({ state, ground }) => ({
        state: stateMark(reader, 'erasureState', state),
        ...(ground && { note: ground }),
      }),
    },
    { label: t('erasures.due'), cell: ({ due }) => ({ time: reader.time(due) }) },
    { label: t('erasures.records'), cell: ({ counts }) => ({ text: String(counts.records) }) },
    {
      label: t('erasures.peers'),
      cell: ({ peers }) => ({ text: peers.map(({ name }) => name).join(', ') || '–' }),
    },
  ];
}

function factsOf(reader: ConsoleReader, erasure: Erasure) {
  const { t } = reader;
  const { state, peer, created, due, done, reason, ground, counts } = erasure;
  return [
    { label: t('erasures.state'), cell: { state: stateMark(reader, 'erasureState', state) } },
    { label: t('erasure.askedBy'), cell: peer ? { code: peer } : { text: t('erasure.nobody') } },
    { label: t('erasures.requested'), cell: { time: reader.time(created) } },
    { label: t('erasures.due'), cell: { time: reader.time(due) } },
    ...(done ? [{ label: t('erasure.done'), cell: { time: reader.time(done) } }] : []),
    ...(reason ? [{ label: t('erasure.reason'), cell: { text: reason } }] : []),
    ...(ground ? [{ label: t('erasure.ground'), cell: { text: ground } }] : []),
    { label: t('erasure.counts'), cell: { text: t('erasure.counted', counts) } },
  ];
}

/** What a peer or an organisation has done. */
type Told = Pick<Erasure['peers'][number], 'name' | 'state' | 'outcome' | 'since'> & { note?: string };

function toldColumns(reader: ConsoleReader): Column<Told>[] {
  return [
    {
      label: reader.t('erasures.state'),
      cell: ({ state, outcome, note }) => ({
        state: stateMark(reader, 'noticeState', outcome === 'kept' ? 'KEPT' : state),
        ...(note && { note }),
      }),
    },
    {
      label: reader.t('erasure.since'),
      cell: ({ since }) => (since ? { time: reader.time(since) } : { text: '–' }),
    },
  ];
}

function peerTable(reader: ConsoleReader, rows: Erasure['peers']) {
  const caption = reader.t('erasure.peers');
  const organisation: Column<Erasure['peers'][number]> = {
    label: reader.t('erasure.organisation'),
    cell: ({ name, location }) => ({ text: name, note: location }),
  };
  return tableView(reader, { caption, path: '', rows, columns: [organisation, ...toldColumns(reader)] });
}

function recipientTable(reader: ConsoleReader, rows: Erasure['recipients']) {
  const caption = reader.t('erasure.recipients');
  const organisation: Column<Told> = {
    label: reader.t('erasure.organisation'),
    cell: ({ name }) => ({ text: name }),
  };
  const columns = [organisation, ...toldColumns(reader)] as Column<Erasure['recipients'][number]>[];
  return tableView(reader, { caption, path: '', rows, columns });
}
