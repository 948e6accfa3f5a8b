import type { Document } from 'openapi-backend';
import type { SharedIntrospections } from '#lib/auth/shared-introspections.ts';
import type { Secrets } from '#lib/config/secrets.ts';
import type { Database } from '#lib/db/database.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import type { OverloadGuard } from '#lib/http/overload-guard.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Metrics } from '#lib/observability/metrics.ts';
import type { AuthSettings } from './config.ts';

/** What the service is given. */
export interface AuthOptions {
  db: Database;
  bus: EventBus;
  log: Logger;
  document: Document;
  limiter: RateLimiter;
  introspections?: SharedIntrospections;
  metrics?: Metrics;
  guard?: OverloadGuard;
  instance: { name: string; baseUrl: string };
  settings: AuthSettings & { corsOrigins: readonly string[]; trustedProxies: readonly string[] };
  secrets: Pick<Secrets, 'keyPepper' | 'issuerCookies' | 'issuerSigning'>;
}
