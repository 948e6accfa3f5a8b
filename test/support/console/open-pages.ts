import { randomBytes, randomUUID } from 'node:crypto';
import Koa from 'koa';
import type { GivenRole } from '#lib/contracts/principal.ts';
import { readContract } from '#lib/http/contract-document.ts';
import { listen } from '#lib/http/listen.ts';
import { runWithRequestId } from '#lib/observability/logger.ts';
import { createApiClients } from '../../../services/console/api/api-client.ts';
import { createConsoleAssets, sendAssets } from '../../../services/console/pages/console-assets.ts';
import type { OnceStore } from '../../../services/console/pages/once.ts';
import { createSealedNames } from '../../../services/console/pages/sealed-names.ts';
import type { Room } from '../../../services/console/rooms/room.ts';
import { rooms } from '../../../services/console/rooms/rooms.ts';
import { serveRooms } from '../../../services/console/rooms/serve-rooms.ts';
import { parseSentForm, receiveForm } from '../../../services/console/sessions/read-form.ts';
import type { ConsoleSession } from '../../../services/console/sessions/session.ts';
import type { Reachable } from '../instances/callers.ts';
import { signIn } from '../instances/callers.ts';
import { lightFetch } from '../network/light-fetch.ts';
import { parsePage } from '../pages/parse-page.ts';

/** The pages of the console in front of an instance; a person is signed in from the start. */
export interface ConsolePages {
  origin: string;
  /** Opens a page as a browser does. */
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, fields: Record<string, string>): Promise<Response>;
  /** Sends a form with files. */
  upload(path: string, fields: Record<string, string | File>): Promise<Response>;
  /** Opens the page of a form and sends it, with its hidden fields. */
  fill(path: string, fields: Record<string, string>, language?: string): Promise<Response>;
  close(): Promise<void>;
}

/** @param apiUrl where the API is called, if not at the instance. */
export async function openPages(
  instance: Reachable,
  username: GivenRole,
  {
    apiUrl = instance.url,
    shown = rooms,
    idleSeconds = 1800,
  }: { apiUrl?: string; shown?: readonly Room[]; idleSeconds?: number } = {},
): Promise<ConsolePages> {
  const { headers } = await signIn(instance, username);
  const token = (headers.Authorization ?? '').replace('Bearer ', '');
  const session: ConsoleSession = {
    name: username,
    account: username,
    roles: impliedRoles[username] ?? [username],
    signedInAt: new Date(),
    accessToken: token,
  };
  const assets = createConsoleAssets();
  const document = readContract(new URL('../../../openapi.yaml', import.meta.url));
  const app = new Koa();
  const server = await listen((...given) => app.callback()(...given), { host: '127.0.0.1', port: 0 });
  const origin = `http://localhost:${server.port}`;
  app.use(sendAssets(assets));
  // Forms of strangers are not read.
  app.use(async (ctx, next) => {
    ctx.state.visitor = session;
    await next();
  });
  app.use(receiveForm(origin));
  app.use(async (ctx, next) => {
    ctx.state.session = session;
    await parseSentForm(ctx);
    await runWithRequestId(randomUUID(), next);
  });
  app.use(
    serveRooms({
      rooms: shown,
      document,
      assets,
      instance: { name: 'Riverside', baseUrl: instance.url, timeZone: 'UTC', language: 'en' },
      api: createApiClients({ document, apiUrl, baseUrl: instance.url }),
      once: memoryOnce(),
      names: createSealedNames([randomBytes(32)]),
      features: async () => undefined,
      idleSeconds,
    }),
  );
  const get = (path: string, more = {}) =>
    fetch(`${origin}${path}`, { headers: { Accept: 'text/html', ...more } });
  const post = (path: string, fields: Record<string, string>, language = 'en') =>
    lightFetch(new URL(path, origin), {
      method: 'POST',
      headers: { Origin: origin, 'Accept-Language': language },
      body: new URLSearchParams(fields),
      redirect: 'manual',
    });
  const upload = (path: string, fields: Record<string, string | File>) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    return fetch(origin + path, { method: 'POST', headers: { Origin: origin }, body, redirect: 'manual' });
  };
  return {
    origin,
    upload,
    get,
    post,
    async fill(path, fields, language) {
      const hidden = parsePage(await (await get(path)).text())
        .tagged('input')
        .filter(({ attribs }) => attribs.type === 'hidden')
        .map(({ attribs }) => [attribs.name, attribs.value ?? ''] as const);
      return post(path, { ...Object.fromEntries(hidden), ...fields }, language);
    },
    close: () => server.close(1_000),
  };
}

const impliedRoles: Partial<Record<GivenRole, string[]>> = {
  admin: ['admin', 'operator', 'user'],
  operator: ['operator', 'user'],
};

function memoryOnce(): OnceStore {
  const taken = new Set<string>();
  return {
    async take(value) {
      const isNew = !taken.has(value);
      taken.add(value);
      return isNew;
    },
    async free(value) {
      taken.delete(value);
    },
  };
}
