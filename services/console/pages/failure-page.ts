import type { ApiFailure } from '../api/api-failure.ts';
import type { ConsoleReader } from './console-reader.ts';
import type { PageLocals } from './tools.ts';

/** Statuses of the API that a page passes on; every other failure is a 503 of the console. */
const passedOn = new Set([401, 403, 404, 406, 409, 410, 412, 413, 414, 422, 429]);

const titles: Record<number, string> = {
  401: 'failure.unauthorized',
  403: 'failure.forbidden',
  404: 'failure.notFound',
};

/**
 * The page of a request whose only call, or all of whose calls, failed.
 * @param isAct whether something was to be done: the address of the page then leads to where it began.
 */
export function failurePage(
  reader: ConsoleReader,
  failure: ApiFailure,
  isAct: boolean,
): { status: number; locals: PageLocals } {
  const { status, detail } = failure;
  const shown = passedOn.has(status) ? status : 503;
  const title = titles[shown] ?? (isAct ? 'failure.notDone' : 'failure.title');
  return {
    status: shown,
    locals: {
      title: reader.t(title),
      text: failureText(reader, failure),
      detail,
      canSignIn: shown === 401,
      canRetry: !isAct && (shown === 429 || shown === 503),
      canReturn: isAct && shown !== 401 && shown !== 403 && shown !== 404,
    },
  };
}

/** Statuses whose sentence says more than that of their code: what to do without the page. */
const byStatus = new Set([401, 403, 404, 414, 429, 503]);

/**
 * What a failure means and what to do about it: for a 403 who may, else the message of the status or of the
 * problem's code. The API's own words, which are English, say more and stand beside it.
 * @param isOfForm whether a form was refused: a 404 is then about what it names, not about the page.
 */
export function failureText(reader: ConsoleReader, failure: ApiFailure, isOfForm = false): string {
  const { status, code, retryAfter, roles } = failure;
  if (roles.length > 0) return roleText(reader, roles);
  const isOfPage = byStatus.has(status) && !(isOfForm && status === 404);
  const known = [isOfPage ? status : code, code, status >= 500 ? 503 : 'status'].map(
    (each) => `failure.${each}`,
  );
  const key = known.find((each) => reader.has(each)) ?? 'failure.status';
  return reader.t(key, { status, seconds: retryAfter ?? 10 });
}

/** The page for a person without a role of the room. */
export function forbiddenPage(reader: ConsoleReader, roles: readonly string[]): PageLocals {
  return {
    title: reader.t('failure.forbidden'),
    text: roleText(reader, roles),
    detail: '',
    canSignIn: false,
    canRetry: false,
  };
}

/** The page for a person who has signed in and has no role of the console. */
export function noRolePage(
  { t }: ConsoleReader,
  { name, instance }: { name: string; instance: string },
): PageLocals {
  return { title: t('noRole.title'), text: t('noRole.text', { name, instance }) };
}

/** Says for which roles a page or an act is. */
function roleText(reader: ConsoleReader, roles: readonly string[]): string {
  const list = new Intl.ListFormat(reader.language, { type: 'disjunction' });
  return reader.t('failure.role', { role: list.format(roles.map((role) => reader.word('role', role))) });
}
