import type { Handler } from '#lib/http/operation.ts';
import { type EncodedBody, encodeOnce, sendEncoded } from '#lib/http/send-encoded.ts';
import type { Dependencies } from './dependencies.ts';

/** GET /openapi.yaml */
export function getContractYamlHandler(dependencies: Dependencies): Handler {
  let text: EncodedBody | undefined;
  return async (ctx) => {
    const { stringify } = await import('yaml');
    text ??= encodeOnce(stringify(ownDocument(dependencies), { aliasDuplicateObjects: false, lineWidth: 0 }));
    ctx.type = 'application/yaml';
    await sendEncoded(ctx, text);
  };
}

/** GET /openapi.json */
export function getContractJsonHandler(dependencies: Dependencies): Handler {
  let text: EncodedBody | undefined;
  return async (ctx) => {
    text ??= encodeOnce(JSON.stringify(ownDocument(dependencies)));
    ctx.type = 'application/json';
    await sendEncoded(ctx, text);
  };
}

/** The contract with this instance as its server. */
function ownDocument({ document, instance }: Dependencies) {
  return { ...document, servers: [{ url: instance.baseUrl, description: instance.name }] };
}
