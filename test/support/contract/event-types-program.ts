import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { readAsyncApi } from '#lib/events/event-contract.ts';

// `npm run events:types` writes the types of asyncapi.yaml, `npm run events:check` fails if they are not up
// to date.
const file = new URL('../../../lib/contracts/events.gen.ts', import.meta.url);
const { channels, components } = readAsyncApi(new URL('../../../asyncapi.yaml', import.meta.url));

const schemas = await openapiTS({
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
const text = `${astToString(schemas)}
/** The types of the events of each topic. */
export interface TopicEvents {
${topics.join('\n')}
}

/** The data of each type of event. */
export interface EventData {
${data.join('\n')}
}
`;

if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  process.stderr.write('lib/contracts/events.gen.ts is not what asyncapi.yaml says: npm run events:types\n');
  process.exitCode = 1;
}
