import type { Answers, Deed, History, Line, Told } from './history.ts';

/** A transaction as its caller knows it. */
export interface Known {
  id: string;
  subject: string;
  token: string;
}

/** A caller that sends each request until it knows what became of it, and writes down what it was told. */
export interface Client {
  history: History;
  /** How many requests it knows the end of. */
  done(): number;
  /** @param twin sends the same again at the same time. */
  create(subject: string, twin?: boolean): Promise<Known>;
  submit(known: Known, answers: Answers, as: 'json' | 'form'): Promise<Told>;
  cancel(known: Known): Promise<void>;
  child(known: Known): Promise<Known>;
  singleStep(subject: string, answers: Answers): Promise<void>;
}

interface Answered {
  status: number;
  location: string | null;
  body: { id?: string; token?: string; type?: string };
}

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

/**
 * @param baseUrl the instance's address, the same after each restart.
 * @param headers of an API key.
 * @param isUp waits for the instance; a request whose reply never came is sent again then.
 */
export function createClient({
  baseUrl,
  headers,
  isUp,
}: {
  baseUrl: string;
  headers: Record<string, string>;
  isUp: () => Promise<unknown>;
}): Client {
  const history: Line[] = [];
  let requests = 0;

  /** Sends a request until there is an answer. @param finish what was told, when it is known. */
  async function ask(
    deed: Deed,
    path: string,
    init: RequestInit,
    expected: readonly number[],
    finish: (answered: Answered) => Deed,
  ): Promise<Answered> {
    requests += 1;
    const request = requests;
    for (;;) {
      const answered = await trySending(path, init);
      if (!answered) {
        history.push({ request, told: 'unknown', ...deed });
        await isUp();
        continue;
      }
      if (!expected.includes(answered.status))
        throw new Error(`${deed.kind} was answered ${answered.status} ${answered.body.type ?? ''}`);
      history.push({
        request,
        told: answered.status < 400 ? 'acknowledged' : 'refused',
        ...finish(answered),
      });
      return answered;
    }
  }

  async function trySending(path: string, init: RequestInit): Promise<Answered | undefined> {
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method: 'POST',
        redirect: 'manual',
        signal: AbortSignal.timeout(15_000),
        ...init,
      });
      const text = await response.text();
      if (response.status === 503) return undefined;
      return {
        status: response.status,
        location: response.headers.get('location'),
        body: text.startsWith('{') ? JSON.parse(text) : {},
      };
    } catch {
      return undefined;
    }
  }

  const json = (body: unknown): RequestInit => ({
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const context = (subject: string) => ({ subject, layout: 'layout.001', language: 'en', cancellable: true });
  const knownFrom = (subject: string, { body }: Answered): Known => ({
    id: body.id as string,
    subject,
    token: body.token as string,
  });

  return {
    history,
    done: () => history.filter(({ told }) => told !== 'unknown').length,
    async create(subject, twin = false) {
      const deed: Deed = { kind: 'create', subject };
      const send = () =>
        ask(deed, '/consents', json(context(subject)), [200, 201], ({ body }) => ({ ...deed, id: body.id }));
      const [first] = await Promise.all(twin ? [send(), send(), send()] : [send()]);
      return knownFrom(subject, first as Answered);
    },
    async submit({ id, token }, answers, as) {
      const deed: Deed = { kind: 'submit', id, answers };
      // The subject has the token alone.
      const request =
        as === 'form'
          ? { body: new URLSearchParams(toFields(answers)), headers: { Accept: 'text/html' } }
          : { ...json(toJson(answers)), headers: { 'Content-Type': 'application/json' } };
      const { status } = await ask(
        deed,
        `/consents/${id}/submit?t=${token}`,
        request,
        [200, 303, 409],
        () => deed,
      );
      return status < 400 ? 'acknowledged' : 'refused';
    },
    async cancel({ id, token }) {
      const deed: Deed = { kind: 'cancel', id };
      await ask(deed, `/consents/${id}/cancel?t=${token}`, {}, [200], () => deed);
    },
    async child({ id, subject, token }) {
      const deed: Deed = { kind: 'child', parent: id, subject };
      return knownFrom(
        subject,
        await ask(deed, `/consents/${id}/child?t=${token}`, {}, [200, 201], ({ body }) => ({
          ...deed,
          id: body.id,
        })),
      );
    },
    async singleStep(subject, answers) {
      const deed: Deed = { kind: 'single step', subject, answers };
      await ask(
        deed,
        '/consents/singlestep',
        json({ context: context(subject), values: toJson(answers) }),
        [200, 201],
        ({ body }) => ({ ...deed, id: body.id }),
      );
    },
  };
}
