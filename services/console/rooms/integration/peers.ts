import type Router from '@koa/router';
import type { Context } from 'koa';
import { type ApiFailure, fieldFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import { formPath, listEntries } from '../../models/read-model.ts';
import { factsView, timeCell } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { fieldsFor } from '../../pages/form.ts';
import { actPage, buttonAct, fieldReader, formPage, orShowAgain } from '../../pages/form-page.ts';
import { listRoute } from '../../pages/list-page.ts';
import { outboundReason } from '../../pages/outbound-reason.ts';
import { stateMark } from '../../pages/states.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { partnerKeyPath } from './keys.ts';

type Peer = Schemas['Peer'];

/** Peers: list, pair, confirm new keys, change its settings, end the pairing. */
export function peerRoutes(router: Router, tools: RoomTools): void {
  const path = `${tools.path}/peers`;
  const readPeer = async (ctx: Context) =>
    (await tools.api(ctx).call('getPeer', { params: ctx.params })).body;

  listRoute(router, tools, {
    path: '/peers',
    operation: 'listPeers',
    words: 'peers',
    columns: ({ text, code, state, time, number }, reader) => [
      text('peers.name', ({ name }) => name, { href: ({ id }) => `${path}/${id}` }),
      code('peers.url', ({ url }) => url),
      state('peers.state', 'peerState', (peer) => peer.state),
      time('peers.contact', ({ lastContactDate }) => lastContactDate, reader.t('peers.never')),
      number('peers.backlog', ({ backlog }) => backlog),
    ],
    creates: 'createPeer',
    links: [{ href: partnerKeyPath, word: 'peers.makeKey', operation: 'createKey' }],
  });

  actPage(router, tools, {
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
        fields: [
          field('url', { kind: 'url', isRequired: true }),
          field('apiKey', { word: 'key', isRequired: true, isCode: true }),
        ],
      };
    },
    secret: ['apiKey'],
    body: (field) => ({ url: field('url'), apiKey: field('apiKey') }),
    done: (ctx, { body }) => tools.open(ctx, `${path}/${body.id}`, 'paired'),
  });

  const showPeer = async (ctx: Context, failure?: ApiFailure) => {
    const reader = tools.reader(ctx);
    const { t } = reader;
    const peer = await readPeer(ctx);
    const { body: own } = await tools.api(ctx).call('getInstance');
    const href = ctx.path;
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
        tools.may(ctx, 'updatePeer') &&
        tools.form(ctx, {
          action: `${href}/confirm-keys`,
          submit: t('peers.confirm'),
          hidden: { thumbprints: announced.join(' ') },
        }),
      compared:
        announced.length === 0 &&
        peer.thumbprints.length > 0 &&
        tools.may(ctx, 'updatePeer') &&
        tools.form(ctx, {
          action: `${href}/confirm-keys`,
          submit: t(peer.comparedDate ? 'peers.comparedAgain' : 'peers.recordCompared'),
          tone: peer.comparedDate ? 'plain' : 'primary',
          hidden: { thumbprints: peer.thumbprints.join(' ') },
        }),
      prefix:
        tools.may(ctx, 'updatePeer') &&
        tools.form(ctx, {
          action: href,
          submit: t('peers.save'),
          tone: announced.length > 0 || !peer.comparedDate ? 'plain' : 'primary',
          fields: [
            field('subjectPrefix', { word: 'prefix', maxLength: 100 }),
            field('erasure', {
              kind: 'radios',
              options: [
                ['ASK', t('peers.erasureAsk')],
                ['FOLLOW', t('peers.erasureFollow')],
              ],
              isRequired: true,
            }),
            field('witness', {
              kind: 'radios',
              options: [
                ['no', t('peers.witnessNo')],
                ['yes', t('peers.witnessYes')],
              ],
              isRequired: true,
            }),
          ],
          values: failure ? tools.posted(ctx) : valuesOf(peer),
          failure,
        }),
      endUrl: tools.may(ctx, 'deletePeer') && `${href}/end`,
    };
    await tools.page(ctx, 'peer', locals, failure?.status);
  };
  router.get('/peers/:id', (ctx) => showPeer(ctx));

  router.post(
    '/peers/:id',
    orShowAgain(showPeer, async (ctx) => {
      const field = fieldReader(ctx, tools);
      const erasure = field('erasure') === 'FOLLOW' ? ('FOLLOW' as const) : ('ASK' as const);
      const witness = field('witness') === 'yes';
      const body = { subjectPrefix: field('subjectPrefix'), erasure, witness };
      await tools.api(ctx).call('updatePeer', { params: ctx.params, body });
      tools.open(ctx, ctx.path, 'peerChanged');
    }),
  );
  buttonAct(router, tools, {
    path: '/peers/:id/confirm-keys',
    operation: 'updatePeer',
    body: (field) => ({ thumbprints: field('thumbprints').split(' ').filter(Boolean) }),
    done: 'keysConfirmed',
  });

  formPage(router, tools, {
    path: '/peers/:id/end',
    operation: 'deletePeer',
    words: 'peers.end',
    isEnding: true,
    async ask(ctx, { t }) {
      const { name, url, backlog } = await readPeer(ctx);
      const { host } = new URL(url);
      const forms = await listEntries(tools.api(ctx), { types: 'layout', uses: `@${host}` });
      return {
        name,
        effects: [t('peers.endBacklog', { count: backlog }), t('peers.endForms', { count: forms.length })],
        links: forms.map((form) => ({ text: form.name, href: formPath(form.key) })),
        fields: [{ name: 'host', label: t('peers.typeHost', { host }), isRequired: true, isCode: true }],
      };
    },
    async send(ctx, field) {
      const { url } = await readPeer(ctx);
      if (field('host') !== new URL(url).host) throw fieldFailure('host', 'host');
      await tools.api(ctx).call('deletePeer', { params: ctx.params });
    },
    done: (ctx) => tools.open(ctx, path, 'peerEnded'),
  });
}

function valuesOf({ subjectPrefix, erasure, witness }: Peer) {
  return { subjectPrefix, erasure, witness: witness ? 'yes' : 'no' };
}

function factsOf(reader: ConsoleReader, peer: Peer) {
  const {
    failures,
    lastError,
    lastErrorCode: code,
    nextAttemptDate: next,
    catalogueReadDate: read,
    catalogueSize = 0,
  } = peer;
  return factsView(reader, {
    'peers.state': { state: stateMark(reader, 'peerState', peer.state) },
    'peers.url': { code: peer.url },
    'peers.contact': timeCell(reader, peer.lastContactDate, reader.t('peers.never')),
    'peers.compared': timeCell(reader, peer.comparedDate, reader.t('peers.notCompared')),
    'peers.backlog': { number: reader.number(peer.backlog) },
    'peers.failures': failures > 0 && {
      number: reader.number(failures),
      ...(lastError && { note: outboundReason(reader, { code, text: lastError }) }),
    },
    'peers.nextAttempt': failures > 0 && next !== undefined && { time: reader.time(next) },
    'peers.catalogue': {
      ...timeCell(reader, read, reader.t('peers.never')),
      ...(read && { note: reader.t('peers.catalogueSize', { count: catalogueSize }) }),
    },
    'peers.since': { time: reader.time(peer.creationDate) },
  });
}
