import { freePort } from '#lib/db/embedded/postmaster.ts';
import type { LocalServer } from '../../infrastructure/local-server.ts';
import { startLocalNginx } from '../../infrastructure/nginx.ts';
import { until } from '../run/until.ts';
import { isReady, type PrefixRouter, type RoutedReplica } from './prefix-router.ts';

/** A path of each service in deploy/nginx.conf. */
const services = {
  '/': 'forms',
  '/auth': 'auth',
  '/consents': 'transactions',
  '/peers': 'peers',
  '/webhooks': 'webhooks',
  '/console': 'console',
};

/** A real nginx with the repository's own configuration, in place of the prefix router of tests. */
export async function startNginxRouter(): Promise<PrefixRouter> {
  const port = await freePort();
  let replicas: readonly RoutedReplica[] = [];
  let nginx: Promise<LocalServer> | undefined;
  return {
    url: `http://localhost:${port}`,
    serve(routes) {
      replicas = [...new Set(Object.values(routes).flat())];
      const upstreams = Object.entries(services).map(([prefix, service]) => [
        service,
        (routes[prefix] ?? []).map((replica) => replica.port),
      ]);
      nginx = startLocalNginx(port, Object.fromEntries(upstreams));
      // Whoever waits for it is told.
      nginx.catch(() => {});
    },
    async seen(count) {
      await nginx;
      await until(async () => (await Promise.all(replicas.map(isReady))).filter(Boolean).length === count);
    },
    stop: async () => (await nginx?.catch(() => undefined))?.stop(),
  };
}
