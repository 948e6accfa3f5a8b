import type Router from '@koa/router';
import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { columnsFor, factsView, timeCell } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { fieldsFor } from '../../pages/form.ts';
import { fieldReader, formPage, orShowAgain } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { rowsOf, sendList } from '../../pages/list-page.ts';
import { stateMark } from '../../pages/states.ts';
import type { Column } from '../../pages/table.ts';

type Peer = components['schemas']['Peer'];

/** Peers: list, pair, confirm new keys, change the prefix, end the pairing. */
export function peerRoutes(router: Router, kit: RoomKit): void {
  const path = `${kit.path}/peers`;
  const paramsOf = (ctx: Context) => ({ params: { id: String(ctx.params.id) } });
  const urlOf = (ctx: Context) => `${path}/${String(ctx.params.id)}`;
  const readPeer = async (ctx: Context) => (await kit.api(ctx).call('getPeer', paramsOf(ctx))).body;

  router.get('/peers', (ctx) => {
    const reader = kit.reader(ctx);
    return sendList(ctx, kit, {
      view: 'peers',
      title: reader.t('peers.title'),
      path,
      columns: columnsOf(reader, path),
      read: (cursor) => rowsOf(kit.api(ctx).call('listPeers', { query: { cursor } })),
      locals: {
        newUrl: kit.may(ctx, 'createPeer') && `${path}/new`,
        keyUrl: kit.may(ctx, 'createKey') && `${kit.path}/security/new`,
      },
    });
  });

  formPage(router, kit, {
    path: '/peers/new',
    operation: 'createPeer',
    view: 'form',
    isCreating: true,
    ask(_, reader) {
      const { t } = reader;
      const field = fieldsFor(reader, 'peers');
      return {
        title: t('peers.new'),
        locals: { text: t('peers.newText') },
        submit: t('peers.pair'),
        cancelUrl: path,
        fields: [
          field('url', { kind: 'url', isRequired: true }),
          field('apiKey', { word: 'key', isRequired: true, isCode: true }),
        ],
      };
    },
    secret: ['apiKey'],
    send(ctx, field) {
      const body = { url: field('url'), apiKey: field('apiKey') };
      return kit.api(ctx).call('createPeer', { body, secret: ['apiKey'] });
    },
    done: (ctx, { body }) => kit.open(ctx, `${path}/${body.id}`, 'paired'),
  });

  const showPeer = async (ctx: Context, failure?: ApiFailure) => {
    const reader = kit.reader(ctx);
    const peer = await readPeer(ctx);
    const { body: own } = await kit.api(ctx).call('getInstance');
    const href = urlOf(ctx);
    const field = fieldsFor(reader, 'peers');
    const announced = peer.announcedThumbprints ?? [];
    const locals = {
      title: peer.name,
      facts: factsOf(reader, peer),
      thumbprints: peer.thumbprints,
      own: own.jwks.keys.filter(({ use }) => use === 'sig').map(({ kid }) => kid),
      announced,
      confirm:
        announced.length > 0 &&
        kit.form(ctx, {
          action: `${href}/confirm-keys`,
          submit: reader.t('peers.confirm'),
          hidden: { thumbprints: announced.join(' ') },
        }),
      prefix: kit.form(ctx, {
        action: `${href}`,
        submit: reader.t('peers.save'),
        fields: [
          field('subjectPrefix', { word: 'prefix', maxLength: 100 }),
          field('erasure', {
            kind: 'radios',
            options: [
              ['ASK', reader.t('peers.erasureAsk')],
              ['FOLLOW', reader.t('peers.erasureFollow')],
            ],
            isRequired: true,
          }),
        ],
        values: failure ? kit.posted(ctx) : { subjectPrefix: peer.subjectPrefix, erasure: peer.erasure },
        failure,
      }),
      endUrl: kit.may(ctx, 'deletePeer') && `${href}/end`,
    };
    await kit.page(ctx, 'peer', locals, failure?.status);
  };
  router.get('/peers/:id', (ctx) => showPeer(ctx));

  router.post(
    '/peers/:id',
    orShowAgain(showPeer, async (ctx) => {
      const field = fieldReader(ctx, kit);
      const erasure = field('erasure') === 'FOLLOW' ? ('FOLLOW' as const) : ('ASK' as const);
      const body = { subjectPrefix: field('subjectPrefix'), erasure };
      await kit.api(ctx).call('updatePeer', { ...paramsOf(ctx), body });
      kit.open(ctx, urlOf(ctx), 'peerChanged');
    }),
  );

  router.post('/peers/:id/confirm-keys', async (ctx) => {
    const thumbprints = (kit.posted(ctx).thumbprints?.[0] ?? '').split(' ').filter(Boolean);
    await kit.api(ctx).call('updatePeer', { ...paramsOf(ctx), body: { thumbprints } });
    kit.open(ctx, urlOf(ctx), 'keysConfirmed');
  });

  // A form without a page of its own that was kept during a sign-in leads to the peer.
  router.get('/peers/:id/confirm-keys', (ctx) => kit.open(ctx, urlOf(ctx)));

  formPage(router, kit, {
    path: '/peers/:id/end',
    async ask(ctx, { t }) {
      const { name, url, backlog } = await readPeer(ctx);
      const { host } = new URL(url);
      return {
        title: t('peers.endTitle', { name }),
        effects: [t('peers.endBacklog', { count: backlog }), t('peers.endEffect')],
        submit: t('peers.end'),
        tone: 'ending',
        cancelUrl: urlOf(ctx),
        fields: [{ name: 'host', label: t('peers.typeHost', { host }), isRequired: true, isCode: true }],
      };
    },
    async send(ctx, field) {
      const { url } = await readPeer(ctx);
      const fault = { pointer: '/host', code: 'host', detail: '' };
      if (field('host') !== new URL(url).host) throw new ApiFailure(422, { errors: [fault] });
      await kit.api(ctx).call('deletePeer', paramsOf(ctx));
    },
    done: (ctx) => kit.open(ctx, path, 'peerEnded'),
  });
}

function columnsOf(reader: ConsoleReader, path: string): Column<Peer>[] {
  const { text, code, state, time, number } = columnsFor<Peer>(reader);
  return [
    text('peers.name', ({ name }) => name, { href: ({ id }) => `${path}/${id}` }),
    code('peers.url', ({ url }) => url),
    state('peers.state', 'peerState', (peer) => peer.state),
    time('peers.contact', ({ lastContactDate }) => lastContactDate, reader.t('peers.never')),
    number('peers.backlog', ({ backlog }) => backlog),
  ];
}

function factsOf(reader: ConsoleReader, { state, url, lastContactDate, backlog, creationDate }: Peer) {
  return factsView(reader, {
    'peers.state': { state: stateMark(reader, 'peerState', state) },
    'peers.url': { code: url },
    'peers.contact': timeCell(reader, lastContactDate, reader.t('peers.never')),
    'peers.backlog': { number: reader.number(backlog) },
    'peers.since': { time: reader.time(creationDate) },
  });
}
