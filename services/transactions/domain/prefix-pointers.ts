import { Failure } from '#lib/errors/fail.ts';

/** Runs `work` on a part of the body, at once or later: pointers of its faults are told from the body's root. */
export function prefixPointers<T>(prefix: string, work: () => T): T {
  const rethrow = (error: unknown): never => {
    throw prefixed(prefix, error);
  };
  try {
    const result = work();
    return result instanceof Promise ? (result.catch(rethrow) as T) : result;
  } catch (error) {
    return rethrow(error);
  }
}

function prefixed(prefix: string, error: unknown): unknown {
  if (!(error instanceof Failure) || !error.errors) return error;
  return new Failure(error.code, error.message, {
    errors: error.errors.map((fault) => ({ ...fault, pointer: `${prefix}${fault.pointer}` })),
    members: error.members,
    headers: error.headers,
    cause: error.cause,
  });
}
