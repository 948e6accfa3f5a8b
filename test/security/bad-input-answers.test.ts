import { describe, expect, it } from 'vitest';
import { modes, readPage, readProblem } from './bad-input/refusals.ts';
import { type Answers, badInput, writeForm } from './bad-input/session.ts';

const session = badInput();

const keys = ['processing.001', 'processing.003', 'preference.001', 'preference.002', 'preference.003'];
const [letters, booking, often, interests, wishes] = keys.map(
  (key) => `element/${key.split('.')[0]}/${key}/1.0`,
) as [string, string, string, string, string];
const stranger = 'element/processing/processing.002/1.0';
const typed = 'Typed </textarea> at length';

const good: Answers = {
  info: ['element/information/information.001/1.0'],
  [letters]: ['accepted'],
  [booking]: ['accepted'],
  [often]: ['Une fois par mois'],
  [interests]: ['Danse', 'Concerts'],
  [wishes]: [typed],
};
const open = () => session.open({ language: 'fr', layoutData: { elements: keys } });
const without = (name: string): Answers =>
  Object.fromEntries(Object.entries(good).filter(([each]) => each !== name));
const pointer = (name: string) => `/${name.replaceAll('/', '~1')}`;
const strangers = Object.fromEntries(
  Array.from({ length: 195 }, (_, n) => [`element/processing/p.${n}/1.0`, ['accepted']]),
);

/** What is sent, and the fault that is told. */
const wrong: [string, Answers, string][] = [
  [
    'an unknown element',
    { ...good, 'element/processing/nowhere/1.0': ['accepted'] },
    `${pointer('element/processing/nowhere/1.0')} unknown-element`,
  ],
  [
    'an element of another form',
    { ...good, [stranger]: ['accepted'] },
    `${pointer(stranger)} unknown-element`,
  ],
  ['what is no element at all', { ...good, '<script>': ['accepted'] }, '/<script> unknown-element'],
  [
    'a serial that never was',
    { ...without(letters), [letters.replace('1.0', '9.0')]: ['accepted'] },
    `${pointer(letters.replace('1.0', '9.0'))} unknown-element`,
  ],
  ['a required decision missing', without(letters), `${pointer(letters)} required`],
  ['an empty answer', { ...good, [letters]: [''] }, `${pointer(letters)} required`],
  [
    'two values for a single choice',
    { ...good, [often]: ['Une fois par mois', 'Chaque semaine'] },
    `${pointer(often)} too-many`,
  ],
  [
    'accepted and refused at once',
    { ...good, [letters]: ['accepted', 'refused'] },
    `${pointer(letters)} too-many`,
  ],
  [
    'refused where that is not possible',
    { ...good, [booking]: ['refused'] },
    `${pointer(booking)} not-refusable`,
  ],
  [
    'what is no option',
    { ...good, [interests]: ['Danse', '<b>Opera</b>'] },
    `${pointer(interests)} not-an-option`,
  ],
  ['another information', { ...good, info: ['element/information/other/1.0'] }, '/info unknown-element'],
  [
    'two informations',
    { ...good, info: [...(good.info ?? []), 'element/information/other/1.0'] },
    '/info invalid',
  ],
  ['4,001 characters', { ...good, [wishes]: [typed.padEnd(4_001, 'é')] }, `${pointer(wishes)} too-long`],
  ['201 keys', { ...good, ...strangers }, ' too-many'],
];

describe.each(wrong)('answers with %s', (_what, answers, fault) => {
  it('are rejected in JSON with a pointer to the fault; nothing is stored', async () => {
    const made = await open();
    const { said, faults } = await session.storingNothing(async () =>
      readProblem(await session.submit(made, 'json', answers)),
    );
    expect(said).toBe('422 invalid-answer');
    expect(faults).toContain(fault);
  });

  it('return the form to a browser with the entered values; nothing is stored', async () => {
    const made = await open();
    const response = await session.storingNothing(() => session.submit(made, 'html', answers));
    expect(response.status).toBe(422);
    const page = await readPage(response);
    const [box] = page.tagged('textarea');
    // A parser drops the line break that a text area begins with.
    expect(page.text(box).slice(1)).toBe(answers[wishes]?.[0]);
    const chosen = page.tagged('input').filter(({ attribs }) => 'checked' in attribs);
    expect(chosen.map(({ attribs }) => attribs.name)).toContain(interests);
    const [form] = page.tagged('form');
    expect(form?.attribs.action).toMatch(new RegExp(`/consents/${made.id}/submit\\?t=ey`));
    // Where a question of the form is at fault, it says so, and the summary leads there. A notice has no
    // field.
    if (![letters, often, interests, wishes].some((name) => fault.startsWith(pointer(name)))) return;
    const faulty = page.elements.filter(({ attribs }) => attribs['aria-invalid'] === 'true');
    expect(faulty.length).toBeGreaterThan(0);
  });
});

describe('an answer that no browser or client sends', () => {
  const json: [string, string][] = [
    ['half a document', '{"info":'],
    ['a list', '[]'],
    ['nothing', ''],
    ['null', 'null'],
    ['a number for a list', `{"${letters}":1}`],
    ['a number for a text', `{"${letters}":[1]}`],
    ['a lone surrogate', `{"${wishes}":["\\ud800"]}`],
    ['a lone surrogate in a name', '{"\\udfff":["x"]}'],
    ['a NUL', `{"${wishes}":["a\\u0000"]}`],
    ['a prototype', '{"__proto__":["x"]}'],
    ['a constructor', `{"constructor":{"prototype":["x"]}}`],
    ['lists in lists', `{"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
  ];
  const rest = writeForm(without(wishes));
  const form: [string, string][] = [
    ['a NUL', `${rest}&${encodeURIComponent(wishes)}=a%00`],
    ['a NUL in a name', `${rest}&a%00=x`],
    ['a lone surrogate', `${rest}&${encodeURIComponent(wishes)}=%ED%A0%80`],
    ['bytes that are no text', `${rest}&${encodeURIComponent(wishes)}=caf%E9`],
    ['bytes that are no name', `${rest}&caf%E9=x`],
  ];

  it.each(json)('(%s) is malformed in JSON; nothing is stored', async (_what, body) => {
    const made = await open();
    const { said } = await session.storingNothing(async () =>
      readProblem(await session.submit(made, 'json', body)),
    );
    expect(said).toBe('400 malformed');
  });

  it.each(form)('(%s) leads to an error page in a form; nothing is stored', async (_what, body) => {
    const made = await open();
    const response = await session.storingNothing(() => session.submit(made, 'html', body));
    expect(response.status).toBe(400);
    await readPage(response);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    '(a field called %s) is no element of the form, and nothing is stored',
    async (name) => {
      const made = await open();
      const response = await session.storingNothing(() =>
        session.submit(made, 'html', { ...without(often), ...Object.fromEntries([[name, ['x']]]) }),
      );
      expect(response.status).toBe(422);
      expect((await readPage(response)).text()).toContain('Typed');
    },
  );

  it('(a repeated field) counts as two answers to one question; nothing is stored', async () => {
    const made = await open();
    const twice = `${writeForm(good)}&${encodeURIComponent(letters)}=refused`;
    const response = await session.storingNothing(() => session.submit(made, 'html', twice));
    expect(response.status).toBe(422);
    await readPage(response);
  });

  it('(an empty form) returns the form; nothing is stored', async () => {
    const made = await open();
    const response = await session.storingNothing(() => session.submit(made, 'html', ''));
    expect(response.status).toBe(422);
    await readPage(response);
  });

  it('can be corrected and sent again', async () => {
    const [asForm, asJson] = [await open(), await open()];
    for (const mode of modes) await session.submit(mode === 'json' ? asJson : asForm, mode, without(letters));
    expect((await session.submit(asJson, 'json', good)).status).toBe(200);
    expect((await session.submit(asForm, 'html', good)).status).toBe(303);
  });
});
