import type Router from '@koa/router';
import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { stateMark } from '../../pages/states.ts';
import { type Column, tableView } from '../../pages/table.ts';
import { placesOf } from './places.ts';

type Peer = components['schemas']['Peer'];

/** Peers: list, pair, confirm new keys, change the prefix, end the pairing. */
export function peerRoutes(router: Router, kit: RoomKit): void {
  const path = `${kit.path}/peers`;
  const paramsOf = (ctx: Context) => ({ params: { id: String(ctx.params.id) } });
  const urlOf = (ctx: Context) => `${path}/${String(ctx.params.id)}`;
  const readPeer = async (ctx: Context) => (await kit.api(ctx).call('getPeer', paramsOf(ctx))).body;

  router.get('/peers', async (ctx) => {
    const reader = kit.reader(ctx);
    const cursor = kit.cursor(ctx);
    const { body: rows, next } = await kit.api(ctx).call('listPeers', { query: { cursor } });
    const caption = reader.t('peers.title');
    await kit.page(ctx, 'peers', {
      title: caption,
      places: placesOf(ctx, kit),
      newUrl: kit.may(ctx, 'createPeer') && `${path}/new`,
      keyUrl: kit.may(ctx, 'createKey') && `${kit.path}/security/new`,
      table: tableView(reader, { caption, columns: columnsOf(reader, path), rows, path, cursor, next }),
    });
  });

  const showNew = async (ctx: Context, failure?: ApiFailure) => {
    if (!kit.may(ctx, 'createPeer')) throw new ApiFailure(403, {});
    const { t } = kit.reader(ctx);
    const form = kit.form(ctx, {
      action: `${path}/new`,
      submit: t('peers.pair'),
      cancelUrl: path,
      fields: [
        { name: 'url', label: t('peers.url'), kind: 'url', hint: t('peers.urlHint'), isRequired: true },
        { name: 'apiKey', label: t('peers.key'), hint: t('peers.keyHint'), isRequired: true, isCode: true },
      ],
      values: failure ? { url: kit.posted(ctx).url } : {},
      failure,
      once: kit.once.make(),
    });
    const locals = { title: t('peers.new'), text: t('peers.newText'), places: placesOf(ctx, kit), form };
    await kit.page(ctx, 'new', locals, failure?.status);
  };
  router.get('/peers/new', (ctx) => showNew(ctx));

  router.post('/peers/new', async (ctx) => {
    const { url = [''], apiKey = [''], once } = kit.posted(ctx);
    const body = { url: url[0]?.trim() ?? '', apiKey: apiKey[0]?.trim() ?? '' };
    try {
      const secret = ['apiKey'];
      const result = await kit.once.run(once?.[0], () => kit.api(ctx).call('createPeer', { body, secret }));
      if (result === 'repeated') return kit.open(ctx, path, 'repeated');
      kit.open(ctx, `${path}/${result.made.body.id}`, 'paired');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showNew(ctx, error);
    }
  });

  const showPeer = async (ctx: Context, failure?: ApiFailure) => {
    const reader = kit.reader(ctx);
    const peer = await readPeer(ctx);
    const { body: own } = await kit.api(ctx).call('getInstance');
    const href = urlOf(ctx);
    const announced = peer.announcedThumbprints ?? [];
    await kit.page(
      ctx,
      'peer',
      {
        title: peer.name,
        places: placesOf(ctx, kit),
        facts: factsOf(reader, peer),
        thumbprints: peer.thumbprints,
        own: own.jwks.keys.filter(({ use }) => use === 'sig').map(({ kid }) => kid),
        announced,
        confirm:
          announced.length > 0 &&
          kit.form(ctx, {
            action: `${href}/confirm-keys`,
            submit: reader.t('peers.confirm'),
            fields: [],
            hidden: { thumbprints: announced.join(' ') },
          }),
        prefix: kit.form(ctx, {
          action: `${href}`,
          submit: reader.t('peers.save'),
          fields: [
            {
              name: 'subjectPrefix',
              label: reader.t('peers.prefix'),
              hint: reader.t('peers.prefixHint'),
              maxLength: 100,
            },
            {
              name: 'erasure',
              label: reader.t('peers.erasure'),
              hint: reader.t('peers.erasureHint'),
              kind: 'radios',
              options: [
                ['ASK', reader.t('peers.erasureAsk')],
                ['FOLLOW', reader.t('peers.erasureFollow')],
              ],
              isRequired: true,
            },
          ],
          values: failure ? kit.posted(ctx) : { subjectPrefix: peer.subjectPrefix, erasure: peer.erasure },
          failure,
        }),
        endUrl: kit.may(ctx, 'deletePeer') && `${href}/end`,
      },
      failure?.status,
    );
  };
  router.get('/peers/:id', (ctx) => showPeer(ctx));

  router.post('/peers/:id', async (ctx) => {
    const { subjectPrefix = [''], erasure = [] } = kit.posted(ctx);
    try {
      const isFollowed = erasure[0] === 'FOLLOW';
      const body = {
        subjectPrefix: subjectPrefix[0] ?? '',
        erasure: isFollowed ? ('FOLLOW' as const) : ('ASK' as const),
      };
      await kit.api(ctx).call('updatePeer', { ...paramsOf(ctx), body });
      kit.open(ctx, urlOf(ctx), 'peerChanged');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showPeer(ctx, error);
    }
  });

  router.post('/peers/:id/confirm-keys', async (ctx) => {
    const thumbprints = (kit.posted(ctx).thumbprints?.[0] ?? '').split(' ').filter(Boolean);
    await kit.api(ctx).call('updatePeer', { ...paramsOf(ctx), body: { thumbprints } });
    kit.open(ctx, urlOf(ctx), 'keysConfirmed');
  });

  // A form without a page of its own that was kept during a sign-in leads to the peer.
  router.get('/peers/:id/confirm-keys', (ctx) => kit.open(ctx, urlOf(ctx)));

  const askEnd = async (ctx: Context, isWrong = false) => {
    const reader = kit.reader(ctx);
    const { t } = reader;
    const peer = await readPeer(ctx);
    const { host } = new URL(peer.url);
    const failure = isWrong
      ? new ApiFailure(422, { errors: [{ pointer: '/host', code: 'host', detail: '' }] })
      : undefined;
    await kit.confirm(
      ctx,
      {
        title: t('peers.endTitle', { name: peer.name }),
        effects: [t('peers.endBacklog', { count: peer.backlog }), t('peers.endEffect')],
        form: kit.form(ctx, {
          action: `${urlOf(ctx)}/end`,
          submit: t('peers.end'),
          tone: 'ending',
          cancelUrl: urlOf(ctx),
          fields: [{ name: 'host', label: t('peers.typeHost', { host }), isRequired: true, isCode: true }],
          values: isWrong ? kit.posted(ctx) : {},
          failure,
        }),
      },
      failure?.status,
    );
  };
  router.get('/peers/:id/end', (ctx) => askEnd(ctx));

  router.post('/peers/:id/end', async (ctx) => {
    const { url } = await readPeer(ctx);
    if (kit.posted(ctx).host?.[0]?.trim() !== new URL(url).host) return askEnd(ctx, true);
    await kit.api(ctx).call('deletePeer', paramsOf(ctx));
    kit.open(ctx, path, 'peerEnded');
  });
}

function columnsOf(reader: ConsoleReader, path: string): Column<Peer>[] {
  return [
    { label: reader.t('peers.name'), cell: ({ id, name }) => ({ text: name, href: `${path}/${id}` }) },
    { label: reader.t('peers.url'), cell: ({ url }) => ({ code: url }) },
    {
      label: reader.t('peers.state'),
      cell: ({ state }) => ({ state: stateMark(reader, 'peerState', state) }),
    },
    {
      label: reader.t('peers.contact'),
      cell: ({ lastContactDate }) =>
        lastContactDate ? { time: reader.time(lastContactDate) } : { text: reader.t('peers.never') },
    },
    {
      label: reader.t('peers.backlog'),
      isNumber: true,
      cell: ({ backlog }) => ({ number: reader.number(backlog) }),
    },
  ];
}

function factsOf(reader: ConsoleReader, { state, url, lastContactDate, backlog, creationDate }: Peer) {
  return [
    { label: reader.t('peers.state'), cell: { state: stateMark(reader, 'peerState', state) } },
    { label: reader.t('peers.url'), cell: { code: url } },
    {
      label: reader.t('peers.contact'),
      cell: lastContactDate ? { time: reader.time(lastContactDate) } : { text: reader.t('peers.never') },
    },
    { label: reader.t('peers.backlog'), cell: { number: reader.number(backlog) } },
    { label: reader.t('peers.since'), cell: { time: reader.time(creationDate) } },
  ];
}
