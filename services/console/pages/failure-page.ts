import type { ApiFailure } from '../api/api-failure.ts';
import type { ConsoleReader } from './console-reader.ts';
import type { PageLocals } from './kit.ts';

/** Statuses of the API that a page passes on; every other failure is a 503 of the console. */
const passedOn = new Set([401, 403, 404, 409, 410, 412, 413, 414, 422, 429]);

const titles: Record<number, string> = {
  401: 'failure.unauthorized',
  403: 'failure.forbidden',
  404: 'failure.notFound',
};

/** The page of a request whose only call, or all of whose calls, failed. */
export function failurePage(
  reader: ConsoleReader,
  failure: ApiFailure,
): { status: number; locals: PageLocals } {
  const { status, detail, retryAfter, roles } = failure;
  const shown = passedOn.has(status) ? status : 503;
  const key = reader.has(`failure.${shown}`) ? `failure.${shown}` : 'failure.status';
  return {
    status: shown,
    locals: {
      title: reader.t(titles[shown] ?? 'failure.title'),
      text: roles.length > 0 ? roleText(reader, roles) : reader.t(key, { status, seconds: retryAfter ?? 10 }),
      detail,
      canSignIn: shown === 401,
      canRetry: shown === 429 || shown === 503,
    },
  };
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
export function roleText(reader: ConsoleReader, roles: readonly string[]): string {
  const list = new Intl.ListFormat(reader.language, { type: 'disjunction' });
  return reader.t('failure.role', { role: list.format(roles.map((role) => reader.word('role', role))) });
}
