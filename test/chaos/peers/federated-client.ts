import { setTimeout as wait } from 'node:timers/promises';
import { GaveUpError } from '../load/client.ts';
import type { HistoryWriter, Told } from '../load/history.ts';
import type { Answered, Send } from '../load/send.ts';
import type { Random } from '../random.ts';

/** What forms ask: keys, the owner's as layouts name it, and as the owner does. */
export interface Asked {
  own: string;
  theirs: string;
  key: string;
}

export type Mode = 'independent' | 'together';

/** What somebody answered. */
export interface Given {
  own: string;
  theirs: string;
}

/** One line of the history of those who use the leader. A request that is sent again keeps its number. */
export type PeerLine = { request: number; told: Told; why?: string } & PeerDeed;
export type PeerDeed =
  | { kind: 'create'; subject: string; mode: Mode; isNotified?: boolean; id?: string }
  | { kind: 'submit'; id: string; given: Given }
  /** Answers that are in force only with a code, which `confirm` sends. */
  | { kind: 'submit for a code'; id: string }
  | { kind: 'confirm'; id: string; given: Given }
  | { kind: 'cancel'; id: string };

export interface Known {
  id: string;
  token: string;
}

export interface CreateOptions {
  confirmation?: 'FORM_CODE' | 'EMAIL_CODE';
  /** Where the code by mail and the notification go. */
  emailAddress?: string;
  isNotified?: boolean;
}

export interface FederatedClient {
  create(subject: string, mode: Mode, options?: CreateOptions): Promise<Known>;
  submit(known: Known, given: Given): Promise<Told>;
  submitForCode(known: Known, given: Given): Promise<Told>;
  /** @returns the code that the page shows; undefined if the transaction does not await it any more. */
  shownCode(known: Known): Promise<string | undefined>;
  confirm(known: Known, code: string, given: Given): Promise<Told>;
  cancel(known: Known): Promise<Told>;
}

interface Options {
  send: Send;
  history: HistoryWriter<PeerLine>;
  random: Random;
  headers: Record<string, string>;
  asked: Asked;
  patienceMs: number;
}

/** A caller that sends each request until it knows what became of it, and writes down what it was told. */
export function createFederatedClient(options: Options): FederatedClient {
  const { send, history, random, headers, asked, patienceMs } = options;
  let requests = 0;

  async function act(
    deed: PeerDeed,
    path: string,
    body: object | undefined,
    expected: readonly number[],
  ): Promise<Answered> {
    requests += 1;
    const request = requests;
    const json = body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
    const init = { method: 'POST', ...json };
    if (deed.kind === 'create') init.headers = { ...headers, 'Content-Type': 'application/json' };
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const answered = await send({ what: deed.kind, path, init });
      if (answered && expected.includes(answered.status)) {
        const made = deed.kind === 'create' && answered.body.id ? { id: answered.body.id } : {};
        history.add({ request, told: toldBy(answered), ...deed, ...made });
        return answered;
      }
      const why = answered && `${answered.status} ${answered.body.type ?? ''}`.trim();
      history.add({ request, told: why ? 'wrong' : 'unknown', ...(why && { why }), ...deed });
      if (why || Date.now() > deadline) throw new GaveUpError();
      await wait(random.between(20, 200));
    }
  }

  const toAnswers = ({ own, theirs }: Given) => ({
    info: ['element/information/information.001/1.0'],
    [`element/processing/${asked.own}/1.0`]: [own],
    [`element/preference/${asked.theirs}/1.0`]: [theirs],
  });

  return {
    async create(subject, mode, { confirmation, emailAddress, isNotified = false } = {}) {
      const context = {
        subject,
        language: 'en',
        cancellable: true,
        timeout: 'PT1H',
        peerCommit: mode,
        layoutData: { elements: [asked.own, asked.theirs] },
        ...(confirmation && { confirmation }),
        ...(emailAddress && { subjectInfos: { emailAddress } }),
        ...(isNotified && { notification: 'email.001' }),
      };
      const deed: PeerDeed = { kind: 'create', subject, mode, isNotified };
      const { body } = await act(deed, '/consents', context, [200, 201]);
      return { id: body.id as string, token: body.token as string };
    },
    async submit({ id, token }, given) {
      const path = `/consents/${id}/submit?t=${token}`;
      return toldBy(await act({ kind: 'submit', id, given }, path, toAnswers(given), [200, 409]));
    },
    async submitForCode({ id, token }, given) {
      const path = `/consents/${id}/submit?t=${token}`;
      return toldBy(await act({ kind: 'submit for a code', id }, path, toAnswers(given), [200, 409]));
    },
    async shownCode({ id, token }) {
      const init = { headers: { Accept: 'application/json' } };
      const answered = await send({ what: 'code', path: `/consents/${id}/confirm?t=${token}`, init });
      return answered?.body.code;
    },
    async confirm({ id, token }, code, given) {
      const path = `/consents/${id}/confirm?t=${token}`;
      return toldBy(await act({ kind: 'confirm', id, given }, path, { code }, [200, 409, 410]));
    },
    async cancel({ id, token }) {
      return toldBy(
        await act({ kind: 'cancel', id }, `/consents/${id}/cancel?t=${token}`, undefined, [200, 409]),
      );
    },
  };
}

const toldBy = ({ status }: Answered): Told => (status < 400 ? 'acknowledged' : 'refused');
