import { fail, type ProblemCode } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import { problemStatus } from '#lib/http/problem-status.ts';
import type { Dependencies } from './dependencies.ts';
import { sendOwnPage } from './send-own-page.ts';

/** GET /docs/problems/{code} */
export function getProblemPageHandler(dependencies: Dependencies): Handler {
  return (ctx, { params }) => {
    const code = params.code ?? '';
    if (!isProblemCode(code)) throw fail('not-found', 'There is no such problem.');
    sendOwnPage(ctx, dependencies, { page: 'problem', code, status: problemStatus[code].status });
  };
}

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problemStatus, code);
}
