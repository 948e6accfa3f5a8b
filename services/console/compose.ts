import Router from '@koa/router';
import type Koa from 'koa';
import { createRepeatedWork } from '#lib/async/repeated-work.ts';
import type { Secrets } from '#lib/config/secrets.ts';
import { fail } from '#lib/errors/fail.ts';
import { createApp } from '#lib/http/create-app.ts';
import { routesOf } from '#lib/http/mount-contract.ts';
import { createSecretBox } from '#lib/jose/secret-box.ts';
import type { Instance, LiveSettings } from '#lib/runtime/live-settings.ts';
import type { ServiceParts } from '#lib/runtime/service-app.ts';
import { createApiClients } from './api/api-client.ts';
import { knowConfig } from './api/instance-config.ts';
import { answerForms } from './pages/answer-form.ts';
import { createConsoleAssets, sendAssets } from './pages/console-assets.ts';
import { createOutsidePages } from './pages/outside-pages.ts';
import { createSealedNames } from './pages/sealed-names.ts';
import { createSentForms } from './pages/sent-forms.ts';
import { rooms } from './rooms/rooms.ts';
import { kitReader, serveRooms } from './rooms/serve-rooms.ts';
import { createKeptPosts } from './sessions/kept-posts.ts';
import { takePlace } from './sessions/places.ts';
import { receiveForm } from './sessions/read-form.ts';
import { requireSession } from './sessions/require-session.ts';
import { createSessionStore } from './sessions/store.ts';
import { findVisitor } from './sessions/visitor.ts';
import { createCookies } from './sign-in/cookies.ts';
import { createIssuer } from './sign-in/issuer.ts';
import { mountSignIn } from './sign-in/routes.ts';
import { readUser } from './sign-in/user.ts';

export interface ConsoleSettings {
  /** Where the API is called. */
  apiUrl: string;
  /** The issuer's URL in its tokens. */
  issuerUrl: string;
  isOutsideIssuer: boolean;
  clientId: string;
  scopes: string;
  /** CONSOLE_ACCENT. */
  accent: string;
  idleSeconds: number;
  maxSeconds: number;
  trustedProxies: readonly string[];
  /** Whether the process has all services: the console then shares their settings of the instance. */
  standalone: boolean;
}

interface Options extends Omit<ServiceParts, 'settings'> {
  instance: Instance;
  liveSettings: LiveSettings;
  settings: ConsoleSettings;
  secrets: Pick<Secrets, 'consoleSession' | 'consoleClient'>;
}

const sweepMs = 5 * 60_000;
/** Rows per statement, so that no statement runs long. */
const sweepLimit = 1_000;

/** Builds and wires the console. */
export async function composeConsole(
  options: Options,
): Promise<{ app: Koa; start(): Promise<void>; stop(): Promise<void> }> {
  const { db, settings, secrets, metrics, document, pacer } = options;
  const { baseUrl } = options.instance;
  const log = options.log.child({ service: 'console' });
  const keys = secrets.consoleSession;
  const store = createSessionStore({ db, keys, ...settings });
  const kept = createKeptPosts({ db, keys });
  const sent = createSentForms(db);
  const assets = createConsoleAssets();
  const cookies = createCookies(baseUrl);
  const [secret] = secrets.consoleClient;
  const issuer = createIssuer({
    issuerUrl: settings.issuerUrl,
    ...(settings.isOutsideIssuer ? {} : { calledAt: settings.apiUrl }),
    client: { id: settings.clientId, ...(secret && { secret }) },
    scopes: settings.scopes,
    redirectUri: `${baseUrl}/console/callback`,
    readUser: (accessToken) => readUser(settings.apiUrl, accessToken),
    log,
  });
  const router = new Router({ prefix: '/console' });
  const box = createSecretBox(keys, 'accord console sign-in');
  const { instance } = options;
  const { accent } = settings;
  const reader = kitReader({ instance });
  const config = knowConfig(settings.apiUrl, options.liveSettings.accept);
  const api = createApiClients({ document, apiUrl: settings.apiUrl, baseUrl });
  const outside = createOutsidePages({ instance, accent, assets, reader });
  mountSignIn(router, { baseUrl, issuer, cookies, store, box, showSignedOut: outside.sendSignedOut });
  const sweeper = createRepeatedWork({
    everyMs: sweepMs,
    async work(isStopped) {
      for (const { removeOld } of [store, kept, sent])
        while (!isStopped() && (await removeOld(sweepLimit)) === sweepLimit);
    },
    onError: (error) => log.warn('failed to delete old sessions; retried in 5 minutes', { error }),
  });
  const apiVersion = document.info.version;
  const { renderFailure: renderErrorPage } = outside;
  const { trustedProxies } = settings;
  const shown = { service: 'console', baseUrl, apiVersion, trustedProxies, renderErrorPage };
  const app = createApp({ ...shown, metrics, log, pacer }, [
    refuseOtherPaths,
    setHeaders,
    sendAssets(assets),
    findVisitor({ cookies, store }),
    receiveForm(baseUrl),
    takePlace(),
    routesOf(router),
    requireSession({ baseUrl, cookies, store, kept, issuer, sendEndedFrame: outside.sendEndedFrame }),
    answerForms({ api, pages: outside }),
    serveRooms({
      rooms,
      document,
      instance,
      accent,
      assets,
      api,
      once: sent,
      names: createSealedNames(keys),
      features: config.features,
      idleSeconds: settings.idleSeconds,
      formTargets: settings.isOutsideIssuer ? issuer.origins : async () => [],
    }),
    () => {
      throw fail('not-found', 'This page does not exist.');
    },
  ]);
  return {
    app,
    async start() {
      sweeper.start();
      if (settings.standalone) return;
      config.following.start();
      void config.following.runOnce();
    },
    async stop() {
      await Promise.all([sweeper.stop(), config.following.stop()]);
    },
  };
}

const refuseOtherPaths: Koa.Middleware = (ctx, next) => {
  if (!/^\/console(\/|$)/.test(ctx.path)) throw fail('not-found', 'This page does not exist.');
  return next();
};

const setHeaders: Koa.Middleware = (ctx, next) => {
  ctx.set('Referrer-Policy', 'same-origin');
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
  return next();
};
