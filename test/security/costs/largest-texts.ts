import { type Caller, signIn } from '../../support/instances/callers.ts';
import type { TestInstance } from '../../support/instances/instance.ts';
import { activateContent, type LiveModel, makeLiveModel } from '../../support/instances/live-models.ts';
import { createTransaction, type LiveTransaction } from '../../support/instances/live-transactions.ts';

/** Elements with the longest texts; a layout may have 100. */
const elements = process.env.HOSTILE_TEXTS === 'all' ? 100 : 16;

/** The longest rich texts that are stored, each dear to something: parsing, arranging, wrapping lines. */
const richTexts = [
  `<p lang="en" dir="ltr">a`.repeat(2_300),
  '<ol start="3" type="i">'.concat('<li value="3">a '.repeat(2_400)),
  `${'a'.repeat(18)}\n`.repeat(4_990),
  `<table>${'<tr><td>a</td></tr>'.repeat(1_200)}</table>`,
  `${'<b>'.repeat(12)}${'<p>a</p>'.repeat(300)}`,
  '<a href="https://a.example/b">a</a> '.repeat(2_400),
  '&amp;'.repeat(19_999),
  'word '.repeat(19_999),
  '<h1>a</h1><h3>b</h3>'.repeat(1_200),
  'a<br />'.repeat(4_900),
];
const rich = (turn: number) => richTexts[turn % richTexts.length] as string;
const lines = 'line of text\n'.repeat(1_500);
const line = 'w'.repeat(499);

const controller = {
  company: line,
  info: lines,
  address: lines,
  email: 'a@a.example',
  phoneNumber: '1'.repeat(64),
};

const contents: Record<string, (turn: number) => Record<string, unknown>> = {
  conditions: (turn) => ({ title: line, body: rich(turn), acceptLabel: 'a'.repeat(120) }),
  processing: () => ({
    title: line,
    data: lines,
    usage: lines,
    retention: { label: line, value: 1, unit: 'YEAR', fullText: lines },
    thirdParties: Array.from({ length: 50 }, (_, index) => ({
      name: `${index}${line.slice(3)}`,
      value: lines.slice(0, 14_000),
    })),
    dataController: controller,
    dataControllerVisible: true,
  }),
  preference: () => ({
    label: line,
    description: lines,
    valueType: 'CHECKBOXES',
    options: Array.from({ length: 50 }, (_, index) => `${index} ${'o'.repeat(250)}`),
  }),
};

/** Other texts in the same places, as long as those before. */
function rewritten(content: Record<string, unknown>): Record<string, unknown> {
  const text = JSON.stringify(content).replaceAll('line of text', 'text of line').replaceAll('www', 'wow');
  return JSON.parse(text) as Record<string, unknown>;
}

/** The largest things that can be stored, in an instance that has a demonstration. */
export interface LargestThings {
  admin: Caller;
  /** Each with two versions whose texts differ. */
  models: Record<'information' | 'conditions' | 'processing' | 'preference' | 'email' | 'theme', LiveModel>;
  /** Of conditions, and of questions: a form does not mix them. */
  forms: LargestForm[];
}

export interface LargestForm {
  layout: LiveModel;
  open: LiveTransaction;
  answered: LiveTransaction;
  answers: Record<string, string[]>;
  /** Changes every question, and asks the person of `answered` what has changed. */
  askChanged(): Promise<LiveTransaction>;
}

/** An element with the content of its next version. */
interface Changing {
  model: LiveModel;
  next: Record<string, unknown>;
}

export async function storeLargest(instance: TestInstance): Promise<LargestThings> {
  const admin = await signIn(instance, 'admin');
  const make = async (type: string, content: (turn: number) => Record<string, unknown>, turn = 0) => {
    const model = await makeLiveModel(admin, type, { en: content(turn) });
    if (turn === 0) await activateContent(admin, model, { en: content(turn + 1) });
    return model;
  };
  const several = async (type: string, count: number) => {
    const made: Changing[] = [];
    const content = contents[type] as (turn: number) => Record<string, unknown>;
    for (let turn = 0; turn < count; turn += 1)
      made.push({ model: await make(type, content, turn), next: rewritten(content(turn + 3)) });
    return made;
  };
  const conditions = await several('conditions', elements);
  const processings = await several('processing', elements >> 2);
  const preferences = await several('preference', elements >> 2);
  const information = await make('information', (turn) => ({
    title: line,
    header: rich(turn),
    footer: rich(turn + 1),
    scope: lines,
    scopeVisible: true,
    dataController: controller,
    dataControllerVisible: true,
  }));
  const email = await make('email', (turn) => ({
    subject: line.slice(0, 255),
    title: line,
    body: rich(turn),
    footer: rich(turn + 3),
    signature: rich(turn + 4),
  }));
  const theme = await make('theme', (turn) => ({
    name: 'A theme',
    css: `:root{--accord-accent:#${turn}23456}${'a{color:red}'.repeat(4_900)}`,
  }));
  const formOf = async (shown: readonly Changing[]): Promise<LargestForm> => {
    const layout = await make('layout', () => ({
      info: information.key,
      elements: shown.map(({ model }) => model.key),
      theme: theme.key,
      notification: email.key,
    }));
    const context = {
      layout: layout.key,
      subjectInfos: { emailAddress: 'a@a.example', fullName: line },
      attributes: Object.fromEntries(
        Array.from({ length: 150 }, (_, index) => [`name${index}`, 'v'.repeat(250)]),
      ),
    };
    const open = await createTransaction(admin, context);
    const answered = await createTransaction(admin, context);
    const form = (await (await admin.get(`/consents/${answered.id}/submit`)).json()) as {
      elements: { identifier: string; content: { options?: string[] } }[];
    };
    const answers = Object.fromEntries(
      form.elements.map(({ identifier, content }) => [identifier, content.options ?? ['accepted']]),
    );
    const submitted = await admin.send('POST', `/consents/${answered.id}/submit`, answers);
    if (!submitted.ok)
      throw new Error(`the answers were not accepted: ${(await submitted.text()).slice(0, 500)}`);
    const askChanged = async () => {
      for (const { model, next } of shown) await activateContent(admin, model, { en: next }, 'MAJOR');
      return createTransaction(admin, { ...context, subject: answered.subject, ask: 'CHANGED' });
    };
    return { layout, open, answered, answers, askChanged };
  };
  return {
    admin,
    models: {
      information,
      email,
      theme,
      conditions: conditions[0]?.model as LiveModel,
      processing: processings[0]?.model as LiveModel,
      preference: preferences[0]?.model as LiveModel,
    },
    forms: [await formOf(conditions), await formOf([...processings, ...preferences])],
  };
}
