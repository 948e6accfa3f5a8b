import type { HttpClient, Reply } from './http-client.ts';

/** The steps of the full flow, in order. */
export const steps = ['create', 'open', 'form', 'submit', 'final page'] as const;
export type Step = (typeof steps)[number];

/** What the flow needs of a server. */
export interface Target {
  client: HttpClient;
  /** A valid API key. */
  key: string;
  /** What is asked and answered; without it, what the demonstration's `layout.001` asks for. */
  questions?: Questions;
}

/** A form and a subject's choices in it. */
export interface Questions {
  /** Of the context: `layout`, or `layoutData`. */
  layout: object;
  /** Body of the submission. */
  filledIn: string;
}

/** A step that was not answered as it should be. */
export class FlowEnded extends Error {
  readonly step: Step;
  readonly status: number;
  readonly ms: number;

  constructor(step: Step, { status, body }: Reply, ms: number) {
    super(`${step}: ${status} ${body.slice(0, 5000)}`);
    this.step = step;
    this.status = status;
    this.ms = ms;
  }
}

/** What a current browser sends. */
const browser = {
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'Accept-Language': 'en-GB,en;q=0.9,fr;q=0.6',
  'Sec-Fetch-Dest': 'document',
  'Sec-Fetch-Mode': 'navigate',
};

export const demonstration: Questions = {
  layout: { layout: 'layout.001' },
  filledIn: fillIn({
    'element/processing/processing.001/1.0': 'accepted',
    'element/processing/processing.002/1.0': 'refused',
    'element/preference/preference.001/1.0': 'Once a month',
  }),
};

/**
 * What a browser sends of a form.
 * @param answers by identifier.
 * @param info identifier of its information; default: that of the demonstration.
 */
export function fillIn(
  answers: Readonly<Record<string, string>>,
  info = 'element/information/information.001/1.0',
): string {
  const fields = new URLSearchParams({
    info,
    ...answers,
    'accord-action': 'submit',
  });
  for (const identifier of Object.keys(answers)) fields.append('accord-shown', identifier);
  return fields.toString();
}

/**
 * Walks one subject through everything, as a customer's server and then a browser would.
 * @param order makes the context differ from the subject's earlier ones; an equal one would find its
 * transaction again.
 * @param took told how long each step took, in milliseconds.
 * @returns the pages seen.
 * @throws FlowEnded if a step is not answered as it should be.
 */
export async function runFlow(
  { client, key, questions = demonstration }: Target,
  { subject, order }: { subject: string; order: number },
  took: (step: Step, ms: number) => void,
): Promise<{ form: string; final: string }> {
  async function step(name: Step, status: number, send: () => Promise<Reply>): Promise<Reply> {
    const started = performance.now();
    const reply = await send();
    if (reply.status !== status) throw new FlowEnded(name, reply, performance.now() - started);
    took(name, performance.now() - started);
    return reply;
  }

  const context = JSON.stringify({
    subject,
    ...questions.layout,
    attributes: { order: String(order) },
  });
  const created = await step('create', 201, () =>
    client.post('/consents', { CM_KEY: key, 'Content-Type': 'application/json' }, context),
  );
  const opened = await step('open', 303, () => client.get(pathOf(created.location), browser));
  const formUrl = pathOf(opened.location);
  const form = await step('form', 200, () => client.get(formUrl, browser));
  const submitUrl = actionOf(form.body) ?? formUrl;
  const submitted = await step('submit', 303, () =>
    client.post(
      submitUrl,
      { ...browser, 'Content-Type': 'application/x-www-form-urlencoded' },
      questions.filledIn,
    ),
  );
  const final = await step('final page', 200, () => client.get(pathOf(submitted.location), browser));
  if (!final.body.includes('data-state="COMMITTED"')) throw new Error('final page: not that of a commitment');
  return { form: form.body, final: final.body };
}

/** Servers write their own address, which may name the loopback in another way. */
function pathOf(url: string | undefined): string {
  if (!url) throw new Error('A reply has no Location.');
  return url.slice(url.indexOf('/', url.indexOf('//') + 2));
}

/** Where the form leads: with a fresh token, unless it is the bare server's constant page. */
function actionOf(html: string): string | undefined {
  const action = /<form id="choices" method="post" action="([^"]+)"/.exec(html)?.[1];
  return action && pathOf(action.replaceAll('&amp;', '&'));
}
