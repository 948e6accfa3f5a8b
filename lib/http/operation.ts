import type { Context } from 'koa';
import type { operations } from '#lib/contracts/openapi.gen.ts';
import type { Principal, Reach, Role } from '#lib/contracts/principal.ts';

/** How a reply is represented: a page for a browser, or a document for another client. */
export type Mode = 'html' | 'json';

/** An operationId of openapi.yaml. */
export type OperationId = keyof operations;

/** Fields of a form post: the values by name. */
export type FormFields = Record<string, string[]>;

/** A query parameter is a text, or texts where the contract says array; neither is converted. */
type Text<Value> =
  NonNullable<Value> extends readonly (infer Item)[]
    ? Item[]
    : NonNullable<Value> extends string
      ? Value
      : string;

type Texts<Parameters> = { [Name in keyof Parameters]: Text<Parameters[Name]> };

/** `form` is true for a form post. A body that is neither JSON nor a form post is not parsed. */
type Sent<Content> =
  | { form: false; body: Content extends { 'application/json': infer Json } ? Json : Buffer }
  | (Content extends { 'application/x-www-form-urlencoded': unknown }
      ? { form: true; body: FormFields }
      : never);

type Body<Request> = [Request] extends [undefined]
  ? { form: false; body: undefined }
  :
      | (Request extends { content: infer Content } ? Sent<Content> : never)
      | (undefined extends Request ? { form: boolean; body: undefined } : never);

/** What the contract guarantees of a request to an operation. */
type Checked<Id extends OperationId> = Body<operations[Id]['requestBody']> & {
  params: Texts<NonNullable<operations[Id]['parameters']['path']>>;
  query: Texts<NonNullable<operations[Id]['parameters']['query']>>;
};

/** A valid request to an operation, as its handler gets it. */
export type Input<Id extends OperationId> = Checked<Id> & {
  principal: Principal;
  /** Page or document, by content negotiation. */
  mode: Mode;
};

/** Answers one operation: sets status, headers and body on `ctx`. */
export type Handler<Given> = (ctx: Context, input: Given) => Promise<void> | void;

/** Handlers of operations of openapi.yaml. */
export type OperationHandlers = { [Id in OperationId]?: Handler<Input<Id>> };

/** The members of a contract's operation that lib/http reads, with references resolved. */
export interface ContractOperation {
  operationId: string;
  path: string;
  method: string;
  'x-roles': Partial<Record<Role, Reach>>;
  /**
   * Seconds since the sign-in of a person after which the operation requires another sign-in (RFC 9470).
   */
  'x-fresh'?: number;
  /** Request body limit in bytes; 64 KiB when absent (docs/interface.md, "Limits"). */
  'x-body-limit'?: number;
  /**
   * Priority under overload: `high` completes or ends a transaction, `low` creates something or lists much,
   * `peer` is called by other instances; all other operations are between high and low.
   */
  'x-priority'?: 'high' | 'low' | 'peer';
  /** `questions`: the handler counts the questions of a request against the limit, not the request. */
  'x-limit'?: 'questions';
  /** Names the program that serves the operation instead of a service's handler. */
  'x-served-by'?: string;
  /**
   * Whether the operation submits or confirms a subject's answers. Only such operations count for the
   * submission objective (docs/operations.md, "Metrics").
   */
  'x-submission'?: boolean;
  parameters?: { name: string; in: string; schema?: { type?: string } }[];
  /** `x-ignored`: the body is read, and not checked. */
  requestBody?: { required?: boolean; content: Record<string, unknown>; 'x-ignored'?: boolean };
  /** `x-after-redirect`: the response of the address that the operation redirects to. */
  responses: Record<string, { content?: Record<string, unknown>; 'x-after-redirect'?: boolean }>;
}
