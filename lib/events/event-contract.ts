import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Ajv as AjvInstance, ValidateFunction } from 'ajv';
import { keepText } from '#lib/cache/keep-text.ts';
import { PoisonError } from '#lib/events/dead-letters.ts';
import type { AccordEvent, Topic } from '#lib/events/event-bus.ts';
import { rememberByUrls } from '#lib/memo/remember.ts';

const require = createRequire(import.meta.url);

/** Why an event must not be published. */
export interface Refusal {
  error: Error;
  /**
   * True if the event is too large or more than a day old. A recent event may be of a newer release, whose
   * processes publish it.
   */
  permanent: boolean;
}

/** Validates events against asyncapi.yaml, when they are published and when they are received. */
export interface EventContract {
  /** Validates a received event; unknown members are allowed. @throws PoisonError if it is not valid. */
  check(topic: Topic, event: AccordEvent): void;
  /** Validates an event to publish; undefined if it is valid. */
  refusal(topic: Topic, event: AccordEvent): Refusal | undefined;
}

/** Maximum size of an event as JSON (asyncapi.yaml). */
const maxBytes = 16 * 1024;
/** Age of events that may be of another release; longer than a rolling restart takes. */
const otherReleaseMs = 86_400_000;

/** Reads asyncapi.yaml. A schema is compiled for its first event. */
export const readEventContract = rememberByUrls((file: URL): EventContract => {
  const document = readAsyncApi(file);
  const typesOf = new Map(
    Object.values(document.channels).map(({ address, messages }) => [
      address,
      new Map(Object.values(messages).map(({ $ref }) => messageOf(document, $ref))),
    ]),
  );
  const strict = createCompiler(document.components.schemas);
  const tolerant = createCompiler(openSchemas(document.components.schemas));
  function fault(topic: Topic, event: AccordEvent, compile: Compile): string | undefined {
    const payload = typesOf.get(topic)?.get(event.type);
    if (!payload) return 'asyncapi.yaml has no such event in this topic';
    const { data, ...attributes } = event;
    const validEnvelope = compile('#/components/schemas/Attributes');
    if (!validEnvelope(attributes)) return faultOf('attributes', validEnvelope);
    const validData = compile(payload);
    return validData(data) ? undefined : faultOf('data', validData);
  }
  return {
    check(topic, event) {
      const found = fault(topic, event, tolerant);
      if (found) throw new PoisonError(found);
    },
    refusal(topic, event) {
      const size = Buffer.byteLength(JSON.stringify(event));
      if (size > maxBytes)
        return {
          error: new PoisonError(`It has ${size} bytes, more than the maximum of ${maxBytes}`),
          permanent: true,
        };
      const found = fault(topic, event, strict);
      const isRecent = Date.parse(event.time) > Date.now() - otherReleaseMs;
      return found === undefined ? undefined : { error: new PoisonError(found), permanent: !isRecent };
    },
  };
});

/** The type of an event and the reference to the schema of its data. */
function messageOf(document: AsyncApi, channelRef: string): [string, string] {
  const message = document.components.messages[channelRef.slice(channelRef.lastIndexOf('/') + 1)];
  if (!message) throw new Error(`asyncapi.yaml: ${channelRef} is missing`);
  return [message.name, message.payload.$ref];
}

type Schemas = AsyncApi['components']['schemas'];
type Compile = (ref: string) => ValidateFunction;

/** The same schemas, with unknown members allowed. */
function openSchemas(schemas: Schemas): Schemas {
  return JSON.parse(JSON.stringify(schemas), (name, value) =>
    name === 'additionalProperties' && value === false ? undefined : value,
  );
}

function createCompiler(schemas: Schemas): Compile {
  let ajv: AjvInstance | undefined;
  const made = new Map<string, ValidateFunction>();
  return (ref) => {
    let validate = made.get(ref);
    if (!validate) {
      ajv ??= createAjv(schemas);
      validate = ajv.compile({ $ref: `asyncapi${ref}` });
      made.set(ref, validate);
    }
    return validate;
  };
}

function createAjv(schemas: Schemas): AjvInstance {
  const { Ajv } = require('ajv') as typeof import('ajv');
  const addFormats = require('ajv-formats') as typeof import('ajv-formats').default;
  // Validation against the meta-schema would add 50 ms to each start; `npm run check` does it.
  const ajv = new Ajv({ strict: false, allErrors: false, validateSchema: false });
  addFormats(ajv);
  ajv.addSchema({ $id: 'asyncapi', components: { schemas } });
  return ajv;
}

/** Describes a fault by its place and rule, never by the value. */
function faultOf(part: string, { errors }: ValidateFunction): string {
  const [first] = errors ?? [];
  return `${part}${first?.instancePath ?? ''} ${first?.message ?? 'violates asyncapi.yaml'}`;
}

/** The parts of asyncapi.yaml (AsyncAPI 3.0) that programs use. */
export interface AsyncApi {
  channels: Record<
    string,
    {
      address: Topic;
      messages: Record<string, { $ref: string }>;
      bindings: { kafka: { partitions: number; topicConfiguration: Record<string, unknown> } };
    }
  >;
  components: {
    /** `name` is the event's type. */
    messages: Record<string, { name: string; payload: { $ref: string } }>;
    schemas: Record<string, object>;
  };
}

/** Reads asyncapi.yaml; parsed once per version of the file. */
export function readAsyncApi(file: URL): AsyncApi {
  const text = readFileSync(file, 'utf8');
  const json = keepText({
    name: 'events-contract',
    sources: [text],
    make: () => JSON.stringify((require('yaml') as typeof import('yaml')).parse(text)),
  });
  return JSON.parse(json) as AsyncApi;
}
