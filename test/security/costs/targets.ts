import Router from '@koa/router';
import { issuerEndpoints, pagesOfForms } from '../../../services/auth/issuer/request-guards.ts';
import { consolePath } from '../../../services/console/pages/navigation.ts';
import { rooms } from '../../../services/console/rooms/rooms.ts';
import { readContract } from '../../support/contract/contract.ts';
import { listOperations } from '../../support/contract/contract-paths.ts';

/** Something that a request can be sent to. */
export interface Target {
  method: string;
  path: string;
}

const some: Record<string, string> = {
  key: 'processing.001',
  name: 'anna',
  file: 'embed.js',
  code: 'forbidden',
};
const id = '00000000-0000-7000-8000-000000000000';

/** A path of the contract with something in place of its parameters. */
export const concretePath = (path: string) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => some[name] ?? id);

/** Every operation of the contract, those of peers and of the issuer included. */
const ofContract: Target[] = listOperations(readContract()).map(({ path, method }) => ({
  method: method.toUpperCase(),
  path: concretePath(path),
}));

/** Every page and form of the console. */
const ofConsole: Target[] = rooms.flatMap((room) => {
  const path = `${consolePath}${room.path}`;
  const router = new Router({ prefix: path });
  room.routes(router, { path } as Parameters<typeof room.routes>[1]);
  return router.stack.flatMap((layer) =>
    layer.methods
      .filter((method) => method !== 'HEAD')
      .map((method) => ({
        method,
        path: String(layer.path).replaceAll(/:\w+|\{[^}]*\}/g, 'processing.001'),
      })),
  );
});

const ofSignIn = ['sign-in', 'callback', 'signed-out', 'stay', 'nothing'].map((name) => ({
  method: 'GET',
  path: `${consolePath}/${name}`,
}));

/** What the issuer lets pass, by the list that it goes by. */
const ofIssuer: Target[] = [
  ...[...issuerEndpoints, `/authorize/${id}`, `/interaction/${id}`, '/nothing'].map((path) => ({
    method: 'GET',
    path: `/auth${path}`,
  })),
  ...[...pagesOfForms, '/revoke', `/interaction/${id}`].map((path) => ({
    method: 'POST',
    path: `/auth${path}`,
  })),
].filter(({ method, path }) => !ofContract.some((known) => known.method === method && known.path === path));

const ofNothing = [
  '/nothing',
  '/consents/nothing/nothing/nothing',
  '/federation/nothing',
  '/assets/nothing',
].map((path) => ({ method: 'GET', path }));

export const targets: readonly Target[] = [
  ...ofContract,
  ...ofConsole,
  ...ofSignIn,
  { method: 'POST', path: `${consolePath}/sign-out` },
  ...ofIssuer,
  ...ofNothing,
];
