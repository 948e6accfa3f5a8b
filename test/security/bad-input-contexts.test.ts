import { describe, expect, it } from 'vitest';
import { expectRefusal, headersOf, readProblem } from './bad-input/refusals.ts';
import { badInput } from './bad-input/session.ts';

const session = badInput();

type Context = Record<string, unknown>;
const good: Context = { subject: 'alice', layout: 'layout.001' };
const layoutData = (layout: Context): Context => ({
  subject: 'alice',
  layoutData: { elements: ['processing.001'], ...layout },
});

/** What is sent, and what is told: status, code, and the fault. */
const wrong: [string, Context, string, string][] = [
  [
    'both layout and layoutData',
    { ...good, ...layoutData({}) },
    '422 layout-conflict',
    '/layoutData layout-conflict',
  ],
  ['neither layout nor layoutData', { subject: 'alice' }, '422 layout-conflict', '/layout layout-conflict'],
  ['an unknown layout', { ...good, layout: 'layout.999' }, '422 unknown-element', '/layout unknown-element'],
  [
    'an element for a layout',
    { ...good, layout: 'processing.001' },
    '422 unknown-element',
    '/layout unknown-element',
  ],
  [
    'an unknown element',
    layoutData({ elements: ['processing.001', 'processing.999'] }),
    '422 unknown-element',
    '/layoutData/elements/1 unknown-element',
  ],
  [
    'an information for an element',
    layoutData({ elements: ['information.001'] }),
    '422 unknown-element',
    '/layoutData/elements/0 unknown-element',
  ],
  ['no element', layoutData({ elements: [] }), '422 invalid', '/layoutData/elements'],
  [
    'an element twice',
    layoutData({ elements: ['processing.001', 'processing.001'] }),
    '422',
    '/layoutData/elements/1',
  ],
  [
    '101 elements',
    layoutData({ elements: Array.from({ length: 101 }, (_, n) => `processing.${n}`) }),
    '422 invalid',
    '/layoutData/elements',
  ],
  [
    'an unknown information',
    layoutData({ info: 'information.999' }),
    '422 unknown-element',
    '/layoutData/info unknown-element',
  ],
  [
    'conditions among others',
    layoutData({ elements: ['conditions.001', 'processing.001'] }),
    '422',
    '/layoutData/elements',
  ],
  [
    'an element called __proto__',
    layoutData({ elements: ['__proto__'] }),
    '422 unknown-element',
    '/layoutData/elements/0 unknown-element',
  ],
  [
    'markup for an element',
    layoutData({ elements: ['<script>'] }),
    '422 unknown-element',
    '/layoutData/elements/0 unknown-element',
  ],
  [
    'a callback that is run',
    { ...good, callback: 'javascript:alert(1)' },
    '422 invalid',
    '/callback invalid',
  ],
  [
    'a callback that is data',
    { ...good, configuration: { callback: 'data:text/html,<script>' } },
    '422 invalid',
    '/configuration/callback invalid',
  ],
  [
    'a callback with credentials',
    { ...good, callback: 'https://a:b@shop.example' },
    '422 invalid',
    '/callback invalid',
  ],
  ['a callback without a host', { ...good, callback: 'https://' }, '422 invalid', '/callback invalid'],
  ['a page that embeds anywhere', { ...good, iframeOrigin: '*' }, '422 invalid', '/iframeOrigin invalid'],
  [
    'a page with a policy of its own',
    { ...good, iframeOrigin: 'https://a.example; script-src *' },
    '422 invalid',
    '/iframeOrigin invalid',
  ],
  [
    'a page that is no origin',
    { ...good, iframeOrigin: 'https://a.example/page' },
    '422 invalid',
    '/iframeOrigin invalid',
  ],
  [
    'a page that is run',
    { ...good, iframeOrigin: 'javascript:alert(1)' },
    '422 invalid',
    '/iframeOrigin invalid',
  ],
  ['a language that is none', { ...good, language: 'en_<b>' }, '422 invalid', '/language invalid'],
  [
    'a confirmation that is none',
    { ...good, confirmation: 'PIGEON' },
    '422 invalid',
    '/confirmation invalid',
  ],
  [
    'a delay before the beginning',
    { ...good, callbackTriggerDelay: -1 },
    '422 invalid',
    '/callbackTriggerDelay invalid',
  ],
  [
    'a validity beyond the last day there is',
    { ...good, validity: 'P99999999Y' },
    '422 invalid',
    '/validity invalid',
  ],
  ['a validity of no length', { ...good, validity: 'PT0S' }, '422 invalid', '/validity invalid'],
  ['a time-out that is too long', { ...good, timeout: 'P91D' }, '422 invalid', '/timeout invalid'],
  [
    'different values in two places',
    { ...good, object: 'a', configuration: { object: 'b' } },
    '422 invalid',
    '/configuration/object conflict',
  ],
];

const create = (body: unknown) => session.operator.send('POST', '/consents', body);
const atOnce = (context: unknown) =>
  session.operator.send('POST', '/consents/singlestep', { context, values: {} });
const preview = (body: unknown) => session.operator.send('POST', '/consents/preview', body, headersOf.html);

describe.each(wrong)('a context with %s', (_what, context, said, fault) => {
  it('is rejected by every operation with a pointer to the fault; nothing is stored', async () => {
    await session.storingNothing(async () => {
      const problem = await readProblem(await create(context));
      expect(problem.said).toContain(said);
      expect(problem.faults.join('\n')).toContain(fault);
      const alike = await readProblem(await atOnce(context));
      expect(alike.said).toBe(problem.said);
      expect(alike.faults.join('\n')).toContain(`/context${fault}`);
    });
  });

  it('leads to an error page in a preview', async () => {
    const response = await session.storingNothing(() => preview(context));
    // What the page of a form has no part in is not looked at.
    if (response.status !== 200) await expectRefusal(response, 'html', [422, '']);
  });
});

describe('a context with a subject', () => {
  it.each<[string, unknown, number]>([
    ['that is missing', undefined, 400],
    ['that is empty', ' \n ', 422],
    ['of 1,025 characters', 'é'.repeat(1_025), 422],
    ['that is a number', 7, 400],
    ['that is null', null, 400],
    ['that is a list', ['alice'], 400],
  ])('%s is refused, and nothing is stored', async (_what, subject, status) => {
    await session.storingNothing(async () => {
      const { said, faults } = await readProblem(await create({ ...good, subject }));
      expect(said).toMatch(new RegExp(`^${status} `));
      expect(faults.join()).toContain('/subject');
    });
  });

  it('other than the user is forbidden to users; nothing is stored', async () => {
    await session.storingNothing(async () => {
      for (const subject of ['admin', 'User', 'user\u200b', '<b>user</b>']) {
        const response = await session.user.send('POST', '/consents', { ...good, subject });
        expect((await readProblem(response)).said).toBe('403 forbidden');
      }
      const own = { context: { ...good, subject: 'user' }, values: {} };
      const response = await session.user.send('POST', '/consents/singlestep', own);
      expect((await readProblem(response)).said).toBe('403 forbidden');
    });
  });
});

describe('a body that is not a context', () => {
  it.each<[string, string | Buffer]>([
    ['half of one', '{"subject":"alice"'],
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"alice"'],
    ['two of them', `${JSON.stringify(good)}${JSON.stringify(good)}`],
    ['a lone surrogate', '{"subject":"\\ud800","layout":"layout.001"}'],
    ['a NUL', '{"subject":"a\\u0000","layout":"layout.001"}'],
    ['a NUL in a name', '{"subject":"a","layout":"layout.001","attributes":{"\\u0000":"x"}}'],
    ['a prototype', '{"subject":"a","layout":"layout.001","__proto__":{"author":"x"}}'],
    ['a prototype within', '{"subject":"a","layout":"layout.001","attributes":{"__proto__":"x"}}'],
    [
      'a constructor',
      '{"subject":"a","layout":"layout.001","configuration":{"constructor":{"prototype":{}}}}',
    ],
    ['17 levels', `{"subject":"a","layout":"layout.001","x":${'['.repeat(16)}${']'.repeat(16)}}`],
    ['no UTF-8', Buffer.from('{"subject":"caf\xe9","layout":"layout.001"}', 'latin1')],
    ['a list of attributes', '{"subject":"a","layout":"layout.001","attributes":["x"]}'],
    ['a number for an element', '{"subject":"a","layoutData":{"elements":[1]}}'],
    ['a text for a flag', '{"subject":"a","layout":"layout.001","updatable":"yes"}'],
  ])('(%s) is malformed, and nothing is stored', async (_what, body) => {
    await session.storingNothing(async () => {
      const headers = { ...session.operator.headers, 'Content-Type': 'application/json' };
      const send = (path: string, more = {}) =>
        session.instance.fetch(path, { method: 'POST', headers: { ...headers, ...more }, body });
      expect((await readProblem(await send('/consents'))).said).toBe('400 malformed');
      await expectRefusal(await send('/consents/preview', headersOf.html), 'html', [400, 'malformed']);
    });
  });
});
