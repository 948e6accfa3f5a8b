import type { Handler } from '#lib/http/operation.ts';
import type { Dependencies } from './dependencies.ts';

/** GET /openapi.yaml */
export function getContractYamlHandler(dependencies: Dependencies): Handler {
  let text: string | undefined;
  return async (ctx) => {
    const { stringify } = await import('yaml');
    text ??= stringify(ownDocument(dependencies), { aliasDuplicateObjects: false, lineWidth: 0 });
    ctx.type = 'application/yaml';
    ctx.body = text;
  };
}

/** GET /openapi.json */
export function getContractJsonHandler(dependencies: Dependencies): Handler {
  let text: string | undefined;
  return (ctx) => {
    text ??= JSON.stringify(ownDocument(dependencies));
    ctx.type = 'application/json';
    ctx.body = text;
  };
}

/** The contract with this instance as its server. */
function ownDocument({ document, instance }: Dependencies) {
  return { ...document, servers: [{ url: instance.baseUrl, description: instance.name }] };
}
