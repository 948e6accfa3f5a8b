import { Failure, type Fault, type ProblemCode } from '#lib/errors/fail.ts';
import { problemStatus } from '#lib/http/problem-status.ts';

/** Headers that belong to a failure and not to its transport. */
const carried = { 'retry-after': 'Retry-After', 'www-authenticate': 'WWW-Authenticate' };

interface Reply {
  text: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * The failure that a problem document of another service tells of: the reverse of `toProblem`.
 * @returns undefined if the reply is no problem document with a code of ours.
 */
export function readProblem({ text, headers }: Reply): Failure | undefined {
  const problem = parse(text);
  const code = /\/docs\/problems\/([a-z-]+)$/.exec(String(problem?.type))?.[1];
  if (!problem || code === undefined || !Object.hasOwn(problemStatus, code)) return undefined;
  const { type: _, title: _title, status: _status, instance: _path, detail, errors, ...members } = problem;
  const found = Object.entries(carried).flatMap(([name, written]) => {
    const value = headers[name];
    return typeof value === 'string' ? [[written, value] as const] : [];
  });
  return new Failure(code as ProblemCode, String(detail), {
    ...(errors ? { errors: errors as Fault[] } : {}),
    members,
    headers: Object.fromEntries(found),
  });
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
