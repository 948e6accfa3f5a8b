import type { ApiClient } from '../../api/api-client.ts';
import type { OperationId } from '../../api/api-types.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';

/** A step on the way to the first consent. */
export interface NextStep {
  word: string;
  text: string;
  href: string;
  isDone: boolean;
}

/**
 * The steps to the first consent, in order; steps that the person's role does not allow are left out.
 * @returns none if all are done.
 */
export async function readNextSteps(
  api: ApiClient,
  reader: ConsoleReader,
  {
    may,
    hasRecent,
  }: {
    may(operation: OperationId): boolean;
    /** Whether consents are among the figures of the page: then no list is read, which would be logged. */
    hasRecent(): Promise<boolean>;
  },
): Promise<NextStep[]> {
  const hasModel = async (types: string[]) => {
    const { body } = await api.call('listModels', { query: { types, statuses: ['ACTIVE'], size: 1 } });
    return body.totalCount > 0;
  };
  const all: [name: string, href: string, needs: OperationId[], isDone: () => Promise<boolean>][] = [
    ['form', '/console/forms/new', ['createModel'], () => hasModel(['layout'])],
    [
      'consent',
      '/console/forms',
      ['listVersions', 'listTransactions'],
      async () => (await hasRecent()) || hasConsent(api),
    ],
    ['key', '/console/integration/security', ['createKey', 'listKeys'], () => hasKey(api)],
  ];
  const steps = all.filter(([, , needs]) => needs.every(may));
  const done = await Promise.all(steps.map(([, , , isDone]) => isDone()));
  if (done.every(Boolean)) return [];
  return steps.map(([name, href], index) => ({
    word: reader.t(`step.${name}`),
    text: reader.t(`step.${name}.text`),
    href,
    isDone: done[index] === true,
  }));
}

async function hasKey(api: ApiClient): Promise<boolean> {
  const { body } = await api.call('listKeys', { query: { limit: 1 } });
  return body.length > 0;
}

async function hasConsent(api: ApiClient): Promise<boolean> {
  const { body } = await api.call('listTransactions', { query: { states: ['COMMITTED'], limit: 1 } });
  return body.values.length > 0;
}
