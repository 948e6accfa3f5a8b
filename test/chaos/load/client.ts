import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { Answers, Deed, HistoryWriter, Told } from './history.ts';
import type { Answered, Question, Send } from './send.ts';

/** A transaction as its caller knows it. */
export interface Known {
  id: string;
  subject: string;
  token: string;
}

export interface CreateOptions {
  /** Sends the same again at the same time. */
  isTwin?: boolean;
  confirmation?: 'FORM_CODE' | 'EMAIL_CODE';
  /** Where the code by mail and the notification go. */
  emailAddress?: string;
  isNotified?: boolean;
}

/** A caller that sends each request until it knows what became of it, and writes down what it was told. */
export interface Client {
  create(subject: string, options?: CreateOptions): Promise<Known>;
  /** Reads the form. */
  form(known: Known, as: 'json' | 'html'): Promise<void>;
  submit(known: Known, answers: Answers, as: 'json' | 'form'): Promise<Told>;
  submitForCode(known: Known, answers: Answers): Promise<Told>;
  /** @returns the code that the page shows; undefined if the transaction does not await it any more. */
  shownCode(known: Known): Promise<string | undefined>;
  guess(known: Known, code: string): Promise<Told>;
  confirm(known: Known, code: string, answers: Answers): Promise<Told>;
  cancel(known: Known): Promise<Told>;
  child(known: Known): Promise<Known>;
  singleStep(subject: string, answers: Answers): Promise<void>;
}

/**
 * Somebody was told what nobody may be told, or nothing for too long: it is in the history, and this one goes
 * no further.
 */
export class GaveUpError extends Error {}

const types = {
  'processing.001': 'processing',
  'processing.002': 'processing',
  'preference.001': 'preference',
};

function toFields(answers: Answers): [string, string][] {
  const named = Object.entries(answers).map(([key, value]): [string, string] => [
    `element/${types[key as keyof typeof types]}/${key}/1.0`,
    value,
  ]);
  return [['info', 'element/information/information.001/1.0'], ...named];
}

const toJson = (answers: Answers) =>
  Object.fromEntries(toFields(answers).map(([name, value]) => [name, [value]]));

interface Options {
  send: Send;
  history: HistoryWriter;
  random: Random;
  /** Of an API key. */
  headers: Record<string, string>;
  /** For how long a request is sent again that nobody answers. */
  patienceMs?: number;
}

export function createClient({ send, history, random, headers, patienceMs = 60_000 }: Options): Client {
  let requests = 0;
  const nextRequest = () => {
    requests += 1;
    return requests;
  };
  function giveUp(request: number, deed: Deed, { status, body }: Answered): never {
    history.add({ request, told: 'wrong', why: `${status} ${body.type ?? ''}`.trim(), ...deed });
    throw new GaveUpError();
  }

  /** Sends until there is an answer. @param onSilence is told of each attempt that nothing is known of. */
  async function sendUntilAnswered(question: Question, onSilence = () => {}): Promise<Answered> {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const answered = await send(question);
      if (answered) return answered;
      onSilence();
      if (Date.now() > deadline) throw new GaveUpError();
      await wait(random.between(20, 200));
    }
  }

  /** Does something that changes something. @param finish the deed, when it is known what it made. */
  async function act(
    deed: Deed,
    path: string,
    init: RequestInit,
    expected: readonly number[],
    finish: (answered: Answered) => Deed = () => deed,
  ): Promise<Answered> {
    const request = nextRequest();
    const question = { what: deed.kind, path, init: { method: 'POST', ...init } };
    const answered = await sendUntilAnswered(question, () =>
      history.add({ request, told: 'unknown', ...deed }),
    );
    if (!expected.includes(answered.status)) giveUp(request, deed, answered);
    history.add({ request, told: toldBy(answered), ...finish(answered) });
    return answered;
  }

  const json = (body: unknown): RequestInit => ({
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  /** A deadline that is near: a clock ten minutes ahead is past it. */
  const context = (subject: string) => ({
    subject,
    layout: 'layout.001',
    language: 'en',
    cancellable: true,
    timeout: 'PT9M',
  });
  const knownFrom = (subject: string, { body }: Answered): Known => ({
    id: body.id as string,
    subject,
    token: body.token as string,
  });

  return {
    async create(subject, { isTwin = false, confirmation, emailAddress, isNotified } = {}) {
      const deed: Deed = { kind: 'create', subject, ...(isNotified && { isNotified }) };
      const body = json({
        ...context(subject),
        confirmation,
        ...(emailAddress && { subjectInfos: { emailAddress } }),
        ...(isNotified && { notification: 'email.001' }),
      });
      const ask = () => act(deed, '/consents', body, [200, 201], (told) => ({ ...deed, id: told.body.id }));
      const [first] = await Promise.all(isTwin ? [ask(), ask(), ask()] : [ask()]);
      return knownFrom(subject, first as Answered);
    },
    async form({ id, token }, as) {
      const accept = as === 'html' ? 'text/html' : 'application/json';
      const question = {
        what: 'form',
        path: `/consents/${id}/submit?t=${token}`,
        init: { headers: { Accept: accept } },
      };
      const answered = await sendUntilAnswered(question);
      if (answered.status !== 200) giveUp(nextRequest(), { kind: 'form', id }, answered);
    },
    async submit({ id, token }, answers, as) {
      // The subject has the token alone.
      const request =
        as === 'form'
          ? { body: new URLSearchParams(toFields(answers)), headers: { Accept: 'text/html' } }
          : { ...json(toJson(answers)), headers: { 'Content-Type': 'application/json' } };
      const path = `/consents/${id}/submit?t=${token}`;
      return toldBy(await act({ kind: 'submit', id, answers }, path, request, [200, 303, 409]));
    },
    async submitForCode({ id, token }, answers) {
      const request = { ...json(toJson(answers)), headers: { 'Content-Type': 'application/json' } };
      const path = `/consents/${id}/submit?t=${token}`;
      return toldBy(await act({ kind: 'submit for a code', id }, path, request, [200, 409]));
    },
    async shownCode({ id, token }) {
      const path = `/consents/${id}/confirm?t=${token}`;
      const init = { headers: { Accept: 'application/json' } };
      return (await sendUntilAnswered({ what: 'code', path, init })).body.code;
    },
    async guess({ id, token }, code) {
      const request = { ...json({ code }), headers: { 'Content-Type': 'application/json' } };
      const path = `/consents/${id}/confirm?t=${token}`;
      return toldBy(await act({ kind: 'guess', id }, path, request, [409, 410, 422]));
    },
    async confirm({ id, token }, code, answers) {
      const request = { ...json({ code }), headers: { 'Content-Type': 'application/json' } };
      const path = `/consents/${id}/confirm?t=${token}`;
      return toldBy(await act({ kind: 'confirm', id, answers }, path, request, [200, 409, 410]));
    },
    async cancel({ id, token }) {
      return toldBy(await act({ kind: 'cancel', id }, `/consents/${id}/cancel?t=${token}`, {}, [200, 409]));
    },
    async child({ id, subject, token }) {
      const deed: Deed = { kind: 'child', parent: id, subject };
      const path = `/consents/${id}/child?t=${token}`;
      const answered = await act(deed, path, {}, [200, 201], ({ body }) => ({ ...deed, id: body.id }));
      return knownFrom(subject, answered);
    },
    async singleStep(subject, answers) {
      const deed: Deed = { kind: 'single step', subject, answers };
      const body = json({ context: context(subject), values: toJson(answers) });
      await act(deed, '/consents/singlestep', body, [200, 201], (told) => ({ ...deed, id: told.body.id }));
    },
  };
}

const toldBy = ({ status }: Answered): Told => (status < 400 ? 'acknowledged' : 'refused');
