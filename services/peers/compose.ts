import type { JWK } from 'jose';
import type Koa from 'koa';
import type { Document } from 'openapi-backend';
import { type Authenticator, authenticateWithoutTransaction } from '#lib/auth/authenticate.ts';
import { createApp } from '#lib/http/create-app.ts';
import { mountContract } from '#lib/http/mount-contract.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { describeInstance } from './domain/self-description.ts';
import { getInstanceHandler } from './handlers/get-instance.ts';

interface Options {
  log: Logger;
  document: Document;
  authenticator: Authenticator;
  instance: { name: string; baseUrl: string };
  /** Private keys of the instance; the first signs. */
  signingKeys: readonly JWK[];
  sealingKeys: readonly JWK[];
}

/** Composes the peers service: what the instance says of itself. */
export async function composePeers({
  log,
  document,
  authenticator,
  instance,
  signingKeys,
  sealingKeys,
}: Options): Promise<{ app: Koa }> {
  const [signingKey] = signingKeys;
  if (!signingKey) throw new Error('an instance needs a signing key');
  const description = await describeInstance({ ...instance, signingKeys, sealingKeys });
  const { routes } = await mountContract({
    document,
    tag: 'peers',
    handlers: { getInstance: getInstanceHandler({ description, signingKey }) },
    authenticate: (ctx) => authenticateWithoutTransaction(authenticator, ctx),
  });
  const app = createApp(
    { service: 'peers', baseUrl: instance.baseUrl, apiVersion: document.info.version, log },
    [routes],
  );
  return { app };
}
