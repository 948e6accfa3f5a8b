import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Role } from '#lib/contracts/principal.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { type EncodedBody, encodeOnce, sendEncoded, sendPage } from '#lib/http/send.ts';
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
  const { db, document, instance, renderer, defaultLanguage, authUrl, publicClient, issuer } = dependencies;
  const ownDocument = { ...document, servers: [{ url: instance.baseUrl, description: instance.name }] };
  const signIn = publicClient === null ? null : { tokenUrl: authUrl, clientId: publicClient };
  const { name, baseUrl, timeZone } = instance;
  const config = {
    version: document.info.version,
    name,
    baseUrl,
    timeZone,
    language: defaultLanguage,
    languages: renderer.languages,
    roles,
    issuer,
  };
  const ownFeatures: SystemConfig['features'] = [
    'pdf',
    ...(issuer.builtIn ? ['accounts' as const] : []),
    'audit',
  ];
  let yaml: EncodedBody | undefined;
  let json: EncodedBody | undefined;
  let page: EncodedBody | undefined;
  return {
    async getContractYaml(ctx) {
      const { stringify } = await import('yaml');
      yaml ??= encodeOnce(stringify(ownDocument, { aliasDuplicateObjects: false, lineWidth: 0 }));
      ctx.type = 'application/yaml';
      await sendEncoded(ctx, yaml);
    },

    async getContractJson(ctx) {
      json ??= encodeOnce(JSON.stringify(ownDocument));
      ctx.type = 'application/json';
      await sendEncoded(ctx, json);
    },

    /** The reference page, the same for all readers: openapi.yaml is written in English. */
    async getDocs(ctx) {
      page ??= encodeOnce(
        await renderer.renderInTurns({
          page: 'api',
          document: { ...document },
          signIn,
          language: 'en',
          instance,
          theme: null,
        }),
      );
      sendPage(ctx, '');
      await sendEncoded(ctx, page);
    },

    async getSystemConfig(ctx) {
      const features = [...(await readChannels(db)), ...ownFeatures];
      ctx.body = { ...config, features } satisfies SystemConfig;
    },
  } satisfies OperationHandlers;
}
