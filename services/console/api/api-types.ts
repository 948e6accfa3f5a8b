import type { components, operations } from '#lib/contracts/openapi.gen.ts';
import type { OperationId } from '#lib/http/operation.ts';

export type { OperationId };

/** The schemas of openapi.yaml. */
export type Schemas = components['schemas'];

type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : undefined;
type Responses<Id extends OperationId> = operations[Id]['responses'];
type Success<Id extends OperationId> = Extract<keyof Responses<Id>, 200 | 201 | 202 | 204>;

/** The JSON body of an operation's successful response; undefined if it has none. */
export type ResultOf<Id extends OperationId> = {
  [Status in Success<Id>]: JsonOf<Responses<Id>[Status]>;
}[Success<Id>];

/** A row of the list that an operation answers with. */
export type RowOf<Id extends OperationId> =
  ResultOf<Id> extends (infer Row)[] ? Row : ResultOf<Id> extends { values: (infer Row)[] } ? Row : never;

/** Names of query parameters. Values are written as texts; empty ones are left out. */
type QueryOf<Id extends OperationId> = {
  [Name in keyof NonNullable<operations[Id]['parameters']['query']>]?:
    | string
    | number
    | boolean
    | readonly string[];
};
type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : never;

/** Parameters and body of a call. */
export interface CallInput<Id extends OperationId> {
  /** Path parameters. */
  params?: Readonly<Record<string, string>>;
  query?: QueryOf<Id>;
  /** Which page of a list. */
  page?: { cursor?: string; limit?: number };
  body?: BodyOf<Id>;
  /** The body of an upload. */
  file?: File;
  /** ETag that the resource must still have. */
  ifMatch?: string;
  /** Members of the body that "The same by API" shows as a variable: passwords and keys. */
  secret?: readonly string[];
}

/** A successful response. */
export interface ApiReply<T> {
  status: number;
  body: T;
  etag?: string;
  location?: string;
  /** Cursor of the next page of a list; absent on the last page. */
  next?: string;
}
