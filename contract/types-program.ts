import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { InterfaceDeclaration } from 'typescript';
import { parse } from 'yaml';
import { readAsyncApi } from '#lib/events/event-contract.ts';
import { acceptedContract } from '#lib/http/accepted-contract.ts';
import { clientOperations } from './client-operations.ts';

// `npm run prepare` writes the types of openapi.yaml and asyncapi.yaml, which the repository does not
// contain, for the services and for clients/typescript. npm runs it after an installation; one without the
// packages for development needs no types.
const generator = await import('openapi-typescript').catch((error) => {
  if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
  throw error;
});
if (generator) {
  const [contract, events] = [await contractTypes(generator), await eventTypes(generator)];
  writeTypes('lib/contracts/openapi', contract);
  writeTypes('lib/contracts/events', events);
  writeTypes('clients/typescript/src/contract', contract);
  writeTypes('clients/typescript/src/events', events);
  writeTypes(
    'clients/typescript/src/operations',
    clientOperations(new URL('../openapi.yaml', import.meta.url)),
  );
}

type Generator = typeof import('openapi-typescript');

/** The types of schemas and operations of openapi.yaml, with everything that an instance accepts. */
async function contractTypes({ default: read, astToString }: Generator): Promise<string> {
  const contract = parse(readFileSync(new URL('../openapi.yaml', import.meta.url), 'utf8'));
  const types = await read(acceptedContract(contract), {
    defaultNonNullable: false,
    emptyObjectsUnknown: true,
  });
  // `paths` repeats every operation.
  const used = types.filter((type) =>
    ['components', 'operations'].includes((type as InterfaceDeclaration).name.text),
  );
  return astToString(used);
}

/** The types of the events of asyncapi.yaml, by topic and by type. */
async function eventTypes({ default: read, astToString }: Generator): Promise<string> {
  const { channels, components } = readAsyncApi(new URL('../asyncapi.yaml', import.meta.url));
  const schemas = await read({
    openapi: '3.1.0',
    info: { title: 'events', version: '1' },
    paths: {},
    components: { schemas: components.schemas as never },
  });
  const last = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);
  const topics = Object.values(channels).map(({ address, messages }) => {
    const names = Object.values(messages).map(({ $ref }) => `'${components.messages[last($ref)]?.name}'`);
    return `  '${address}': ${names.join(' | ')};`;
  });
  const data = Object.values(components.messages).map(
    ({ name, payload }) => `  '${name}': components['schemas']['${last(payload.$ref)}'];`,
  );
  return `${astToString(schemas)}
/** The types of the events of each topic. */
export interface TopicEvents {
${topics.join('\n')}
}

/** The data of each type of event. */
export interface EventData {
${data.join('\n')}
}
`;
}

/** An unchanged file keeps its time, so that no other program reads it again. */
function writeTypes(name: string, types: string): void {
  const file = new URL(`../${name}.gen.ts`, import.meta.url);
  if (!existsSync(file) || readFileSync(file, 'utf8') !== types) writeFileSync(file, types);
}
