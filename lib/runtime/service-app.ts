import type Koa from 'koa';
import type { Middleware } from 'koa';
import type { Document } from 'openapi-backend';
import {
  type Authenticator,
  authenticateWithoutTransaction,
  createAuthenticator,
  forgetRevokedKeys,
} from '#lib/auth/authenticate.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { Database } from '#lib/db/database.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import type { OverloadGuard } from '#lib/http/admission.ts';
import { createApp } from '#lib/http/create-app.ts';
import type { RenderErrorPage } from '#lib/http/handle-errors.ts';
import { type MountOptions, mountContract } from '#lib/http/mount-contract.ts';
import type { Pacer } from '#lib/http/pacer.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import { cors } from '#lib/http/security-headers.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Metrics } from '#lib/observability/metrics.ts';
import type { Tracing } from '#lib/observability/tracing.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';

/** What every service is composed from. */
export interface ServiceParts {
  db: Database;
  bus: EventBus;
  log: Logger;
  document: Document;
  limiter: RateLimiter;
  metrics?: Metrics;
  guard?: OverloadGuard;
  pacer?: Pacer | undefined;
  tracing?: Tracing | undefined;
  instance: Pick<Instance, 'baseUrl' | 'auditRetention'>;
  settings: {
    trustedProxies: readonly string[];
    /** Absent: browsers may not call the service from other origins. */
    corsOrigins?: readonly string[];
  };
}

interface AppOptions {
  /** Also its tag in openapi.yaml. */
  service: string;
  auth: Pick<AuthOperations, 'introspect'>;
  handlers: MountOptions['handlers'];
  /** Default: people and API keys, without tokens of transactions. */
  authenticate?: (authenticator: Authenticator) => MountOptions['authenticate'];
  renderErrorPage?: RenderErrorPage;
  /** Paths that pages of any origin may read. Default: none. */
  openReads?: (path: string) => boolean;
  /** Runs before the operations of the contract. */
  middleware?: readonly Middleware[];
}

/** Builds a service's application: its part of the contract, behind authentication, limits and CORS. */
export async function createServiceApp(
  { bus, document, limiter, guard, instance: { baseUrl }, settings, ...parts }: ServiceParts,
  options: AppOptions,
): Promise<Koa> {
  const { service, auth, handlers, renderErrorPage, openReads = () => false, middleware = [] } = options;
  const authenticator = createAuthenticator({ auth, onRefused: limiter.countRefusal });
  forgetRevokedKeys({ bus, service, authenticator });
  const { routes } = await mountContract({
    document,
    tag: service,
    handlers,
    authenticate:
      options.authenticate?.(authenticator) ?? ((ctx) => authenticateWithoutTransaction(authenticator, ctx)),
    limit: async (principal, operation) => {
      if (operation['x-limit'] !== 'questions') await limiter.countRequest(principal);
    },
    admit: guard?.admitFor(service),
  });
  const { corsOrigins, trustedProxies } = settings;
  const apiVersion = document.info.version;
  const { log, metrics, tracing, pacer } = parts;
  const shown = { service, baseUrl, apiVersion, trustedProxies, renderErrorPage };
  return createApp({ ...shown, log, metrics, tracing, pacer }, [
    ...(corsOrigins ? [cors({ origins: corsOrigins, openReads })] : []),
    ...middleware,
    routes,
  ]);
}
