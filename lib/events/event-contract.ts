import { createRequire } from 'node:module';
import type { Ajv as AjvInstance, ValidateFunction } from 'ajv';
import { type AsyncApi, readAsyncApi } from '#lib/events/async-api.ts';
import { PoisonError } from '#lib/events/dead-letters.ts';
import type { AccordEvent, Topic } from '#lib/events/event.ts';

const require = createRequire(import.meta.url);

/** Why an event must not be sent. */
export interface Refusal {
  error: Error;
  /** False while it may be of a newer release, whose processes send it: two releases have one outbox during a rolling restart. */
  permanent: boolean;
}

/** What asyncapi.yaml says of events; each is held against it when it is written and when it is read. */
export interface EventContract {
  /** What a newer release says beside is passed over. @throws PoisonError unless the contract knows the event in this topic. */
  check(topic: Topic, event: AccordEvent): void;
  /** Undefined if it may be sent. */
  refusal(topic: Topic, event: AccordEvent): Refusal | undefined;
}

/** docs/webhooks.md. */
const maxBytes = 16 * 1024;
/** Longer than two releases work side by side. */
const otherReleaseMs = 86_400_000;

/** Reads asyncapi.yaml and makes its checks; a schema is compiled when its first event comes. */
export function readEventContract(file: URL): EventContract {
  const document = readAsyncApi(file);
  const typesOf = new Map(
    Object.values(document.channels).map(({ address, messages }) => [
      address,
      new Map(Object.values(messages).map(({ $ref }) => messageOf(document, $ref))),
    ]),
  );
  const written = createCompiler(document.components.schemas);
  const read = createCompiler(withoutClosing(document.components.schemas));
  function fault(topic: Topic, event: AccordEvent, compile: Compile): string | undefined {
    const payload = typesOf.get(topic)?.get(event.type);
    if (!payload) return 'asyncapi.yaml knows no such event in this topic';
    const { data, ...attributes } = event;
    const validEnvelope = compile('#/components/schemas/Attributes');
    if (!validEnvelope(attributes)) return faultOf('attributes', validEnvelope);
    const validData = compile(payload);
    return validData(data) ? undefined : faultOf('data', validData);
  }
  return {
    check(topic, event) {
      const found = fault(topic, event, read);
      if (found) throw new PoisonError(found);
    },
    refusal(topic, event) {
      const size = Buffer.byteLength(JSON.stringify(event));
      if (size > maxBytes)
        return {
          error: new PoisonError(`It has ${size} bytes, and ${maxBytes} are the most`),
          permanent: true,
        };
      const found = fault(topic, event, written);
      const isRecent = Date.parse(event.time) > Date.now() - otherReleaseMs;
      return found === undefined ? undefined : { error: new PoisonError(found), permanent: !isRecent };
    },
  };
}

/** An event's type and where the schema of its data is. */
function messageOf(document: AsyncApi, channelRef: string): [string, string] {
  const message = document.components.messages[channelRef.slice(channelRef.lastIndexOf('/') + 1)];
  if (!message) throw new Error(`asyncapi.yaml: ${channelRef} is missing`);
  return [message.name, message.payload.$ref];
}

type Schemas = AsyncApi['components']['schemas'];
type Compile = (ref: string) => ValidateFunction;

/** The same schemas, which take members that they do not know. */
function withoutClosing(schemas: Schemas): Schemas {
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
  const ajv = new Ajv({ strict: false, allErrors: false });
  addFormats(ajv);
  ajv.addSchema({ $id: 'asyncapi', components: { schemas } });
  return ajv;
}

/** Names the place and the rule, never the value. */
function faultOf(part: string, { errors }: ValidateFunction): string {
  const [first] = errors ?? [];
  return `${part}${first?.instancePath ?? ''} ${first?.message ?? 'is not as in asyncapi.yaml'}`;
}
