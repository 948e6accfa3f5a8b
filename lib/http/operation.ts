import type { Context } from 'koa';
import type { Principal, Role } from '#lib/contracts/principal.ts';

/** How a reply is represented: a page for a browser, or a document for another client. */
export type Mode = 'html' | 'json';

/** A valid request, as its handler gets it. Handlers declare the type of its body. */
export interface OperationInput<Body = unknown> {
  params: Record<string, string>;
  /** Query parameters; an array where the contract says array, split at commas. */
  query: Record<string, string | string[] | undefined>;
  body: Body;
  /** True for a form post: the body is then a map from field name to values. */
  form: boolean;
  principal: Principal;
  /** Page or document, by content negotiation. */
  mode: Mode;
}

/** Answers one operation: sets status, headers and body on `ctx`. */
export type Handler = (ctx: Context, input: OperationInput<never>) => Promise<void> | void;

/** A service's handlers by operationId. */
export type Handlers = Record<string, Handler>;

/** Whether a role may use an operation on every resource, or only on its own. */
export type Reach = 'any' | 'own';

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
