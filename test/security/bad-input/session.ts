import { afterAll, beforeAll, expect } from 'vitest';
import { type Caller, signIn } from '../../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../../support/instances/instance.ts';
import { createTransaction, type LiveTransaction } from '../../support/instances/live-transactions.ts';
import { createStoreReader } from '../authorisation/what-is-stored.ts';
import { headersOf, type Mode } from './refusals.ts';

export type Answers = Record<string, string[]>;

/** An instance that is sent what it must refuse. */
export interface BadInput {
  readonly instance: TestInstance;
  readonly admin: Caller;
  readonly operator: Caller;
  readonly user: Caller;
  /** A transaction that waits for answers. */
  open(context?: Record<string, unknown>): Promise<LiveTransaction>;
  /** Sends answers in JSON, or as a browser's form; a text goes as it is. */
  submit(transaction: LiveTransaction, mode: Mode, answers: Answers | string): Promise<Response>;
  /** Does something after which all that is stored must be as it was. */
  storingNothing<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Registers the hooks that start and stop everything. */
export function badInput(): BadInput {
  const made = {} as Pick<BadInput, 'instance' | 'admin' | 'operator' | 'user'>;
  let store: Awaited<ReturnType<typeof createStoreReader>>;
  beforeAll(async () => {
    const instance = await startTestInstance();
    const [admin, operator, user] = (await Promise.all(
      ['admin', 'operator', 'user'].map((name) => signIn(instance, name)),
    )) as [Caller, Caller, Caller];
    Object.assign(made, { instance, admin, operator, user });
    store = await createStoreReader(instance);
  });
  afterAll(async () => {
    if (made.instance) expect(made.instance.logs()).not.toContain('"level":"error"');
    await store?.end();
    await made.instance?.stop();
  });
  return {
    get instance() {
      return made.instance;
    },
    get admin() {
      return made.admin;
    },
    get operator() {
      return made.operator;
    },
    get user() {
      return made.user;
    },
    open: (context) => createTransaction(made.operator, context),
    submit: ({ id, token }, mode, answers) =>
      made.instance.fetch(`/consents/${id}/submit?t=${token}`, {
        method: 'POST',
        headers: { ...headersOf[mode], 'Content-Type': mediaTypes[mode] },
        body: typeof answers === 'string' ? answers : write[mode](answers),
      }),
    async storingNothing(work) {
      const before = await store.read();
      const result = await work();
      expect(await store.read()).toEqual(before);
      return result;
    },
  };
}

const mediaTypes = { json: 'application/json', html: 'application/x-www-form-urlencoded' };

const write = { json: (answers: Answers) => JSON.stringify(answers), html: writeForm };

/** Answers as a browser sends them. */
export function writeForm(answers: Answers): string {
  const fields = new URLSearchParams();
  for (const [name, values] of Object.entries(answers))
    for (const value of values) fields.append(name, value);
  return fields.toString();
}
