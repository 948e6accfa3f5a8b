import type { Context } from 'koa';
import type { Principal, Role } from '#lib/contracts/principal.ts';
import type { Mode } from '#lib/http/negotiate.ts';

/** A valid request, as its handler sees it. The shapes come from openapi.gen.ts; handlers name them. */
export interface OperationInput<Body = unknown> {
  params: Record<string, string>;
  /** Query parameters; an array where the contract says array, split at commas. */
  query: Record<string, string | string[] | undefined>;
  body: Body;
  /** True if the body came as a form post: then it is a map from field name to values. */
  form: boolean;
  principal: Principal;
  /** Page or document, by content negotiation. */
  mode: Mode;
}

/** Answers one operation: sets status, headers and body on `ctx`. */
export type Handler = (ctx: Context, input: OperationInput<never>) => Promise<void> | void;

/** A service's handlers by operationId. */
export type Handlers = Record<string, Handler>;

/** Whether a role may use an operation on anything, or only on what is its own. */
export type Reach = 'any' | 'own';

/** An operation of the contract, references resolved, as far as the kernel reads it. */
export interface ContractOperation {
  operationId: string;
  path: string;
  method: string;
  'x-roles': Partial<Record<Role, Reach>>;
  /** Request body limit in bytes; 64 KiB when absent (docs/interface.md, "Limits"). */
  'x-body-limit'?: number;
  /**
   * Who is served first when there is too much to do: `high` takes the answers of a subject, `low` begins something new or lists much,
   * `peer` is what other instances send; everything else is between high and low.
   */
  'x-priority'?: 'high' | 'low' | 'peer';
  /** Whether it takes the answers of a subject; the objective for submissions counts these alone (docs/operations.md, "Metrics"). */
  'x-submission'?: boolean;
  parameters?: { name: string; in: string; schema?: { type?: string } }[];
  requestBody?: { required?: boolean; content: Record<string, unknown> };
  responses: Record<string, { content?: Record<string, unknown> }>;
}
