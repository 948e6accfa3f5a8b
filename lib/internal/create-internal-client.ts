import { type Failure, fail } from '#lib/errors/fail.ts';
import { readProblem } from '#lib/http/problem.ts';
import { type CalledService, createPoster } from '#lib/internal/create-poster.ts';

type Operation = (input: unknown) => Promise<unknown>;

/**
 * The operations of another service over its internal port, as if they were in this process: the same values, the same Failures
 * (ADR 7).
 */
export function createInternalClient<T extends object>(called: CalledService): T {
  const { service } = called;
  const post = createPoster(called);

  async function call(operation: string, input: unknown): Promise<unknown> {
    const body = JSON.stringify(input ?? null);
    const reply = await post(operation, body);
    if (reply.status === 200) return JSON.parse(reply.text);
    throw readProblem(reply) ?? misunderstood(service, operation, reply.status);
  }

  const operations = new Map<string, Operation>();
  return new Proxy({} as T, {
    get(_target, name) {
      // Who awaits the client itself looks for `then`.
      if (typeof name !== 'string' || name === 'then') return undefined;
      const known = operations.get(name) ?? ((input: unknown) => call(name, input));
      operations.set(name, known);
      return known;
    },
  });
}

/** Wrong secrets, or releases that do not know each other's operations: a fault of the instance, not of its client. */
function misunderstood(service: string, operation: string, status: number): Failure {
  return fail('internal', 'Please try again later. The fault has been logged.', {
    cause: new Error(`${service} answered a call of ${operation} with ${status}`),
  });
}
