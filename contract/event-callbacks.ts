import type { Document, Node, YAMLMap } from 'yaml';

/** An event as `x-events` of contract/events.yaml describes it. */
interface EventPiece {
  description: string;
  /** Actions, as `subscribedActions` names them. */
  types: string[];
  subject: string;
  data: object;
}

/** The attributes of CloudEvents 1.0 in structured mode (services/webhooks/domain/message.ts). */
const attributes = {
  specversion: { type: 'string', description: '`1.0`' },
  id: { type: 'string', description: 'Id of the event' },
  source: { type: 'string', description: 'Base URL of the instance' },
  subject: { type: 'string', description: 'Id of what the event is about, never the name of a person' },
  time: { type: 'string', format: 'date-time' },
  datacontenttype: { type: 'string', description: 'That of `data`: `application/json`' },
};

const headers = ['deliveredId', 'deliveredAt', 'deliverySignature'];
const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/**
 * Replaces `x-events` by the schema and the example of each event, and by callbacks of `createWebhook`: what
 * OpenAPI 3.0 has in place of `webhooks`. Each event has a schema of its own, because generators make poor
 * classes of alternatives, and a receiver ignores types that later versions add.
 */
export function addEventCallbacks(whole: Document<Node, boolean>): void {
  const pieces = Object.entries(whole.toJS()['x-events'] as Record<string, EventPiece>);
  whole.delete('x-events');
  for (const [name, piece] of pieces) {
    set(whole, ['components', 'schemas', name], schemaOf(name, piece));
    set(whole, ['components', 'examples', name], exampleOf(piece));
  }
  const callbacks = Object.fromEntries(
    pieces.map(([name, piece]) => [
      `${name[0]?.toLowerCase()}${name.slice(1)}`,
      { '{$request.body#/targetUrl}': { post: operationOf(name, piece) } },
    ]),
  );
  set(whole, ['paths', '/webhooks', 'post', 'callbacks'], callbacks);
}

function set(whole: Document<Node, boolean>, at: string[], value: object): void {
  const map = whole.getIn(at.slice(0, -1)) as YAMLMap;
  map.set(at.at(-1), whole.createNode(value, { aliasDuplicateObjects: false }) as Node);
}

const typeOf = (action: string) => `io.accord.${action}.v1`;

function schemaOf(name: string, { description, types }: EventPiece) {
  const { specversion, id, ...others } = attributes;
  return {
    description,
    type: 'object',
    required: ['specversion', 'id', 'type', ...Object.keys(others), 'data'],
    properties: {
      specversion,
      id,
      type: { type: 'string', enum: types.map(typeOf) },
      ...others,
      requestid: { type: 'string', description: 'Id of the request that caused the event' },
      data: reference('schemas', `${name}Data`),
    },
  };
}

function exampleOf({ description, types, subject, data }: EventPiece) {
  const [action = ''] = types;
  return {
    summary: description,
    value: {
      specversion: '1.0',
      id: 'c2b7a9d4-3d0a-4b7e-8a51-7d1e6f2b9c02',
      type: typeOf(action),
      source: 'https://consent.example.org',
      subject,
      time: '2026-03-14T09:26:53.120Z',
      datacontenttype: 'application/json',
      data,
    },
  };
}

function operationOf(name: string, { description, types }: EventPiece) {
  const actions = types.map((action) => `\`${action}\``).join(', ');
  return {
    operationId: `receive${name}`,
    tags: ['webhooks'],
    summary: description,
    description: `Sent to webhooks for ${actions}; docs/webhooks.md says how to receive it.`,
    security: [],
    parameters: headers.map((header) => reference('parameters', header)),
    requestBody: {
      required: true,
      content: {
        'application/cloudevents+json': {
          schema: reference('schemas', name),
          examples: { event: reference('examples', name) },
        },
      },
    },
    responses: { 204: reference('responses', 'DeliveryAccepted') },
  };
}
