import { LRUCache } from 'lru-cache';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Role } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { type EncodedBody, encodeOnce, sendEncoded, sendPage } from '#lib/http/send.ts';
import { apiGroups } from '../pages/api-view.ts';
import { readChannels } from '../queries/message-channels.ts';
import type { Dependencies } from './dependencies.ts';

type SystemConfig = components['schemas']['SystemConfig'];

const roles: Role[] = [
  'admin',
  'operator',
  'key',
  'user',
  'transaction',
  'anonymous',
  'clerk',
  'author',
  'auditor',
  'technician',
];

/** Handlers of the descriptions of this instance: openapi.yaml, its reference page, the configuration. */
export function contractHandlers(dependencies: Dependencies) {
  const { db, document, instance, renderer, authUrl, publicClient, issuer } = dependencies;
  const signIn = publicClient === null ? null : { tokenUrl: authUrl, clientId: publicClient };
  const ownFeatures: SystemConfig['features'] = [
    'pdf',
    ...(issuer.builtIn ? ['accounts' as const] : []),
    'audit',
    'campaigns',
    'choices',
  ];
  const groups = apiGroups({ ...document });
  /** The document and the pages are made once for each name and logo of the instance. */
  const made = new LRUCache<string, EncodedBody>({ max: 3 * (groups.size + 3) });
  async function once(kind: string, make: () => string | Promise<string>): Promise<EncodedBody> {
    const key = JSON.stringify([kind, instance.name, instance.logo]);
    const body = made.get(key) ?? encodeOnce(await make());
    made.set(key, body);
    return body;
  }
  const ownDocument = () => ({
    ...document,
    servers: [{ url: instance.baseUrl, description: instance.name }],
  });
  return {
    async getContractYaml(ctx) {
      const { stringify } = await import('yaml');
      const yaml = () => stringify(ownDocument(), { aliasDuplicateObjects: false, lineWidth: 0 });
      ctx.type = 'application/yaml';
      await sendEncoded(ctx, await once('yaml', yaml));
    },

    async getContractJson(ctx) {
      ctx.type = 'application/json';
      await sendEncoded(ctx, await once('json', () => JSON.stringify(ownDocument())));
    },

    /** The reference page, the same for all readers: openapi.yaml is written in English. */
    async getDocs(ctx, { query: { group } }) {
      if (group !== undefined && !groups.has(group)) throw fail('not-found', 'There is no such group.');
      const page = () =>
        renderer.renderInTurns({
          page: 'api',
          document: { ...document },
          group,
          signIn,
          language: 'en',
          instance,
          theme: null,
        });
      sendPage(ctx, '');
      await sendEncoded(ctx, await once(`page ${group ?? ''}`, page));
    },

    async getSystemConfig(ctx) {
      const features = [...(await readChannels(db)), ...ownFeatures];
      const { name, baseUrl, timeZone, language, logo } = instance;
      ctx.body = {
        version: document.info.version,
        name,
        baseUrl,
        timeZone,
        language,
        languages: renderer.languages,
        ...(logo && { logo }),
        roles,
        issuer,
        features,
      } satisfies SystemConfig;
    },
  } satisfies OperationHandlers;
}
