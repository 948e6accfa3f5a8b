import type { ApiClient } from '../../api/api-client.ts';
import type { OperationId } from '../../api/api-types.ts';
import { questionTypes } from '../../models/read-model.ts';
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
  may: (operation: OperationId) => boolean,
): Promise<NextStep[]> {
  const hasModel = async (types: string[]) => {
    const { body } = await api.call('listModels', { query: { types, statuses: ['ACTIVE'], size: 1 } });
    return body.totalCount > 0;
  };
  const steps: [name: string, href: string, isDone: Promise<boolean>][] = [
    ['information', '/console/elements/new?type=information', hasModel(['information'])],
    ['element', '/console/elements/new', hasModel([...questionTypes])],
    ['form', '/console/forms/new', hasModel(['layout'])],
    ...(may('listKeys') ? [keyStep(api)] : []),
    ['consent', '/console/integration/code', hasConsent(api)],
  ];
  const done = await Promise.all(steps.map(([, , isDone]) => isDone));
  if (done.every(Boolean)) return [];
  return steps.map(([name, href], index) => ({
    word: reader.t(`step.${name}`),
    text: reader.t(`step.${name}.text`),
    href,
    isDone: done[index] === true,
  }));
}

function keyStep(api: ApiClient): [string, string, Promise<boolean>] {
  const hasKey = api.call('listKeys', { query: { limit: 1 } }).then(({ body }) => body.length > 0);
  return ['key', '/console/integration/security', hasKey];
}

async function hasConsent(api: ApiClient): Promise<boolean> {
  const { body } = await api.call('listTransactions', { query: { states: ['COMMITTED'], limit: 1 } });
  return body.values.length > 0;
}
