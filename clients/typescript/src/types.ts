import type { operations } from './contract.gen.ts';

/** The name of an operation in the contract. */
export type OperationId = keyof operations;

/** Query parameters, headers and path parameters are given together, by their names in the contract. */
type Members<Part> = [NonNullable<Part>] extends [never] ? unknown : NonNullable<Part>;
type ParametersOf<Operation> = Operation extends { parameters: infer All }
  ? Members<All['path' & keyof All]> & Members<All['query' & keyof All]> & Members<All['header' & keyof All]>
  : unknown;

type Form = 'application/x-www-form-urlencoded';
/** What is sent for each media type: objects for JSON and forms, otherwise bytes. */
type BodyOf<Content> = 'application/json' extends keyof Content
  ? { body: Content['application/json'] }
  : Form extends keyof Content
    ? { body: Content[Form] }
    : { body: Blob | Uint8Array<ArrayBuffer> | ArrayBuffer; contentType: keyof Content };
type RequestOf<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? BodyOf<Content>
  : Operation extends { requestBody?: { content: infer Content } }
    ? Partial<BodyOf<Content>>
    : unknown;

type Success = 200 | 201 | 202 | 204;
type ResponsesOf<Id extends OperationId> = operations[Id]['responses'];
type Successes<Id extends OperationId> = ResponsesOf<Id>[keyof ResponsesOf<Id> & Success];
type ContentsOf<Response> = Response extends { content: infer Content } ? Content : never;
type KeysOf<Content> = Content extends unknown ? keyof Content : never;

/** The media types in which an operation can answer. */
export type MediaType<Id extends OperationId> = KeysOf<ContentsOf<Successes<Id>>>;

type Read<Type, Value> = Type extends `${string}json`
  ? Value
  : Type extends `image/svg+xml` | `text/${string}` | `application/${'jose' | 'xml' | 'yaml' | 'x-ndjson'}`
    ? string
    : Blob;
type ReadAll<Content, Accept> = Content extends unknown
  ? { [Type in keyof Content & Accept]: Read<Type, Content[Type]> }[keyof Content & Accept]
  : never;
type Empty<Response> = Response extends { content: unknown } ? never : undefined;

/** What an operation returns: objects for JSON, text, or a Blob; undefined for a response without a body. */
export type Result<Id extends OperationId, Accept> =
  | ReadAll<ContentsOf<Successes<Id>>, Accept>
  | Empty<Successes<Id>>;

/** The parameters of an operation by their names in the contract, `body`, and a media type of the answer. */
export type Input<Id extends OperationId, Accept> = ParametersOf<operations[Id]> &
  RequestOf<operations[Id]> & { accept?: Accept };

/** For one call. */
export interface CallOptions {
  signal?: AbortSignal;
}
export type Given<Value> = object extends Value
  ? [input?: Value, options?: CallOptions]
  : [input: Value, options?: CallOptions];

/** A call of an operation. `Default` is the media type unless `accept` names another. */
export type Call<Id extends OperationId, Default> = <Accept extends MediaType<Id> = Default & MediaType<Id>>(
  ...given: Given<Input<Id, Accept>>
) => Promise<Result<Id, Accept>>;

type ItemOf<Page> = Page extends readonly (infer Item)[]
  ? Item
  : Page extends { values: readonly (infer Item)[] }
    ? Item
    : Page;

/** Everything that a list has, page after page. A list without `values`, as an export, gives its pages. */
export type Iterate<Id extends OperationId, Default> = (
  ...given: Given<Input<Id, Default>>
) => AsyncIterableIterator<ItemOf<Result<Id, Default>>>;

/** A response with what surrounds its body. */
export interface Answer<Data> {
  data: Data;
  status: number;
  headers: Headers;
}

/** How an operation is sent. */
export interface Operation {
  method: string;
  path: string;
  query: readonly string[];
  headers: readonly string[];
  /** The media type of the body, unless the call names one. */
  body?: string;
  accept?: string;
  /** Open to everyone: credentials are not sent. */
  isPublic?: boolean;
}
