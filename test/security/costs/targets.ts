import Router from '@koa/router';
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

const ofIssuer: Target[] = [
  { method: 'GET', path: '/auth/authorize' },
  { method: 'GET', path: `/auth/authorize/${id}` },
  { method: 'GET', path: `/auth/interaction/${id}` },
  { method: 'POST', path: `/auth/interaction/${id}` },
  { method: 'GET', path: '/auth/setup' },
  { method: 'POST', path: '/auth/setup' },
  { method: 'GET', path: '/auth/jwks' },
  { method: 'GET', path: '/auth/nothing' },
];

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
