import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Reachable } from './callers.ts';

/** Identifiers of the information and the elements of `layout.001`, and what it must have answered. */
const info = 'element/information/information.001/1.0';
export const letter = 'element/processing/processing.001/1.0';
export const study = 'element/processing/processing.002/1.0';
export const often = 'element/preference/preference.001/1.0';
export const complete = { [letter]: ['accepted'], [study]: ['refused'], [often]: ['Every week'] };

export type Answers = Record<string, string[]>;
export type LiveForm = components['schemas']['Form'];
export type Representation = components['schemas']['Transaction'] & { token: string };

/** Whoever has a transaction's link, and nothing else. */
export interface LiveSubject {
  /** Reads `/consents/<txid><path>`, as JSON unless told otherwise. */
  get(path?: string, accept?: string): Promise<Response>;
  form(): Promise<LiveForm>;
  /** Posts to `/consents/<txid><path>` without a body. */
  post(path: string, accept?: string): Promise<Response>;
  /** Submits answers as a client does. @param query more of it, such as `&language=fr`. */
  submit(answers?: Answers, query?: string): Promise<Response>;
  /** Submits answers as the form of `information.001` does in a browser. */
  submitForm(answers: Answers, headers?: Record<string, string>): Promise<Response>;
}

/** The subject of a transaction, who has its token. */
export function subjectOf(instance: Reachable, { id, token }: { id: string; token: string }): LiveSubject {
  const address = (path: string) => `/consents/${id}${path}?t=${encodeURIComponent(token)}`;
  const get = (path = '', accept = 'application/json') =>
    instance.fetch(address(path), { headers: { Accept: accept } });
  return {
    get,
    form: async () => (await get('/submit')).json() as Promise<LiveForm>,
    post: (path, accept = 'application/json') =>
      instance.fetch(address(path), { method: 'POST', headers: { Accept: accept } }),
    submit: (answers = complete, query = '') =>
      instance.fetch(`${address('/submit')}${query}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(answers),
      }),
    submitForm: (answers, headers = {}) =>
      instance.fetch(address('/submit'), {
        method: 'POST',
        headers: { Accept: 'text/html', ...headers },
        body: new URLSearchParams(
          Object.entries({ info: [info], ...answers }).flatMap(([name, values]) =>
            values.map((value): [string, string] => [name, value]),
          ),
        ),
      }),
  };
}

/** The transaction that a response represents. */
export async function transactionIn(response: Response | Promise<Response>): Promise<Representation> {
  return (await response).json() as Promise<Representation>;
}

/** What a response says is wrong, in short. */
export async function problemOf(response: Response): Promise<Record<string, unknown> & { said: string }> {
  const problem = (await response.json()) as Record<string, unknown> & { type: string };
  return { ...problem, said: `${response.status} ${problem.type.split('/').at(-1)}` };
}
