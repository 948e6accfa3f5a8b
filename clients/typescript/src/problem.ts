import type { components } from './contract.gen.ts';

export type Problem = components['schemas']['Problem'];
export type Fault = components['schemas']['Fault'];

/** A refusal of the instance: a problem document (RFC 9457), or an error of the token endpoint (RFC 6749). */
export class AccordError extends Error {
  override readonly name = 'AccordError';
  /** Stable, such as `unknown-element`; `unexpected` if the response is not one of Accord. */
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  /** Each fault with a JSON pointer into the body, or `/<name>` of a parameter. */
  readonly errors: readonly Fault[];
  /** That of the first fault. */
  readonly pointer: string | undefined;
  /** Seconds to wait, if the response says so. */
  readonly retryAfter: number | undefined;
  /** The whole document. */
  readonly problem: Partial<Problem>;

  constructor(status: number, body: unknown, retryAfter?: number) {
    const said = typeof body === 'object' && body !== null ? (body as Partial<Problem> & TokenError) : {};
    // Older instances have the code in the type alone.
    const typed = said.type?.match(/\/docs\/problems\/([a-z-]+)$/)?.[1];
    const code = said.code ?? typed ?? said.error ?? 'unexpected';
    const detail =
      said.detail ?? said.error_description ?? said.title ?? `The response has the status ${status}.`;
    super(`${code}: ${detail}`);
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.errors = said.errors ?? [];
    this.pointer = this.errors[0]?.pointer;
    this.retryAfter = retryAfter;
    this.problem = said;
  }
}

interface TokenError {
  error?: string;
  error_description?: string;
}

/** Reads the body of a refusal, whatever it is. */
export async function readError(response: Response): Promise<AccordError> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // Of a proxy, for example.
  }
  return new AccordError(response.status, body, readRetryAfter(response.headers));
}

/** @returns seconds of `Retry-After`, which has a number or a date (RFC 9110, section 10.2.3). */
export function readRetryAfter(headers: Headers, now = Date.now()): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
}
