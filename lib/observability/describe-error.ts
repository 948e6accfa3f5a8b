/** What may be written down of an error. */
export interface ErrorDescription {
  name: string;
  code: string | undefined;
  /** Stack frames. */
  at: string[] | undefined;
  cause: ErrorDescription | undefined;
}

/** Stack frames name places in our code; messages of foreign errors may quote input, so only their names are kept. */
export function describeError(error: unknown): ErrorDescription | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = (error as { code?: unknown }).code;
  // A line of the message may look like a frame.
  const frames = error.stack
    ?.replace(error.message, '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .map((line) => line.trim());
  return {
    name: error.name,
    code: typeof code === 'string' ? code : undefined,
    at: frames,
    cause: describeError(error.cause),
  };
}
