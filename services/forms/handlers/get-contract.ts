import { stringify } from 'yaml';
import type { Handler } from '#lib/http/operation.ts';
import type { Dependencies } from './dependencies.ts';

/** The contract with this instance as its server. Written once, before anything else works with the document. */
function ownDocument({ document, instance }: Pick<Dependencies, 'document' | 'instance'>) {
  return { ...document, servers: [{ url: instance.baseUrl, description: instance.name }] };
}

/** GET /openapi.yaml */
export function getContractYamlHandler(dependencies: Dependencies): Handler {
  const text = stringify(ownDocument(dependencies), { aliasDuplicateObjects: false, lineWidth: 0 });
  return (ctx) => {
    ctx.type = 'application/yaml';
    ctx.body = text;
  };
}

/** GET /openapi.json */
export function getContractJsonHandler(dependencies: Dependencies): Handler {
  const text = JSON.stringify(ownDocument(dependencies));
  return (ctx) => {
    ctx.type = 'application/json';
    ctx.body = text;
  };
}
