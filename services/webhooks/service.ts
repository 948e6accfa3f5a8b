import { allowedNetworks, outboundSpecs } from '#lib/config/specs.ts';
import { defineService } from '#lib/runtime/service-definition.ts';

/** The webhooks service (docs/webhooks.md). */
export const webhooksService = defineService({
  name: 'webhooks',
  folder: import.meta.dirname,
  tables: ['events', 'inbox', 'audit', 'settings'],
  specs: outboundSpecs,
  secrets: ['webhookSealing'],
  calls: ['auth'],
  callers: { auditProof: ['peers'] },
  async load() {
    const { composeWebhooks } = await import('./compose.ts');
    return {
      async compose({ shared, db, settings, secrets, connect, standalone }) {
        const webhooks = await composeWebhooks({
          ...shared,
          db,
          auth: connect('auth'),
          settings: {
            corsOrigins: settings.CORS_ORIGINS,
            trustedProxies: settings.TRUSTED_PROXIES,
            allowedNetworks: allowedNetworks(settings, standalone),
          },
          sealingKeys: secrets.webhookSealing,
        });
        return { ...webhooks, prefixes: ['/webhooks', '/audit/webhooks'] };
      },
    };
  },
});
