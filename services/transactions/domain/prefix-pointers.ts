import { Failure } from '#lib/errors/fail.ts';

/** Runs `work` on a part of the body: pointers of its faults are told from the body's root. */
export function prefixPointers<T>(prefix: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Failure) || !error.errors) throw error;
    const errors = error.errors.map((fault) => ({ ...fault, pointer: `${prefix}${fault.pointer}` }));
    throw new Failure(error.code, error.message, {
      errors,
      members: error.members,
      headers: error.headers,
      cause: error.cause,
    });
  }
}
