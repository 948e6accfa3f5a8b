import { beforeAll, describe, expect, it } from 'vitest';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { type LiveTransaction, recordsOf } from '../support/instances/live-transactions.ts';
import { type ParsedPage, parsePage } from '../support/pages/parse-page.ts';
import { headersOf } from './bad-input/refusals.ts';
import { type Answers, badInput, writeForm } from './bad-input/session.ts';

const session = badInput();

/** Leaves every place that a text can stand in, and does something there. */
const markup = `"'></title></textarea></style></script>--><img src=x onerror="alert(1)"><script>alert(2)</script><a href="javascript:alert(3)" style="top:0">go</a>`;
/** The same for labels, which are short. */
const label = '"\'></button><script>alert(4)</script><img src=x onerror="alert(5)">';

let elements: string[];
let identifiers: string[];
let answers: Answers;
let made: LiveTransaction;
beforeAll(async () => {
  const make = (type: string, content: object) => makeLiveModel(session.admin, type, { fr: { ...content } });
  const retention = { label: markup, fullText: markup, value: 1, unit: 'YEAR' };
  const contact = { company: markup, info: markup, address: markup, email: 'a@b.example', phoneNumber: '1' };
  const info = await make('information', {
    title: markup,
    header: markup,
    footer: markup,
    jurisdiction: markup,
    scope: markup,
    dataController: contact,
    dataControllerVisible: true,
    jurisdictionVisible: true,
    scopeVisible: true,
  });
  const processing = await make('processing', {
    title: markup,
    data: markup,
    usage: markup,
    retention,
    dataController: contact,
    thirdParties: [{ name: markup, value: markup }],
  });
  const choice = await make('preference', {
    label: markup,
    description: markup,
    options: [markup, 'other'],
    valueType: 'CHECKBOXES',
  });
  const text = await make('preference', { label: markup, description: markup, valueType: 'FREE_TEXT' });
  const theme = await make('theme', { name: markup, logoAltText: markup });
  elements = [processing.key, choice.key, text.key];
  identifiers = [
    `element/processing/${processing.key}/1.0`,
    ...[choice, text].map(({ key }) => `element/preference/${key}/1.0`),
  ];
  const [decision, boxes, box] = identifiers as [string, string, string];
  answers = {
    info: [`element/information/${info.key}/1.0`],
    [decision]: ['accepted'],
    [boxes]: [markup],
    [box]: [markup],
    comment: [markup],
  };
  made = await session.open({
    subject: `subject ${markup}`,
    language: 'fr',
    layoutData: {
      elements,
      info: info.key,
      theme: theme.key,
      acceptAllVisible: true,
      acceptAllText: label,
      submitText: label,
      cancelVisible: true,
      cancelText: label,
    },
    author: markup,
    object: markup,
    cancellable: true,
    subjectInfos: { name: markup, [markup]: markup },
    attributes: { [markup]: markup },
    callback: `https://shop.example/?q=${markup}`,
    iframeOrigin: 'https://shop.example',
  });
});

/** Looks at a page as a browser would: nothing of a text has become a part of it. */
async function harmlessPage(response: Response): Promise<ParsedPage> {
  const page = parsePage(await response.text());
  for (const { name, attribs } of page.elements) {
    expect(
      Object.keys(attribs).filter((attribute) => attribute.startsWith('on') || attribute === 'style'),
    ).toEqual([]);
    for (const address of [attribs.src, attribs.href, attribs.action])
      expect(address ?? '').not.toMatch(/^\s*(javascript:|x$)/i);
    if (name === 'script') expect(attribs.src).toMatch(/^(http:\/\/localhost:\d+)?\/assets\//);
  }
  expect(page.tagged('style')).toEqual([]);
  expect(response.headers.get('content-security-policy')).toMatch(/script-src 'self';.*style-src 'self';/);
  return page;
}

const open = (path = '', headers: Record<string, string> = headersOf.html) =>
  session.instance.fetch(`/consents/${made.id}${path}?t=${made.token}`, { headers });

// In this order, because the last of them answers the transaction.
describe('markup in every text', () => {
  it('is text in the form', async () => {
    const page = await harmlessPage(await open('/submit'));
    expect(page.text()).toContain(markup);
    expect(page.tagged('fieldset').length).toBeGreaterThanOrEqual(2);
  });

  it('is text in the form that is returned with faults', async () => {
    const [decision] = identifiers as [string];
    const faulty = {
      ...answers,
      [decision]: [markup],
      [`element/processing/${markup}/1.0`]: [markup],
      [markup]: [markup],
    };
    const response = await session.storingNothing(() => session.submit(made, 'html', faulty));
    expect(response.status).toBe(422);
    const page = await harmlessPage(response);
    expect(page.tagged('textarea').map((box) => page.text(box).slice(1))).toContain(markup);
  });

  it('is text in a problem', async () => {
    const response = await session.storingNothing(() => session.submit(made, 'json', { [markup]: [markup] }));
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(JSON.stringify(await response.json())).not.toContain(made.subject);
  });

  it('is text in a preview and on the page of an unknown address', async () => {
    const context = { layoutData: { elements, submitText: label }, language: 'fr' };
    await harmlessPage(await session.operator.send('POST', '/consents/preview', context, headersOf.html));
    for (const path of [
      `/${markup}`,
      `/consents/${markup}`,
      `/receipts/${markup}`,
      `/models/${markup}`,
      `/docs/problems/${markup}`,
      `/assets/themes/${markup}/1.0.css`,
    ])
      await harmlessPage(
        await session.instance.fetch(encodeURI(path), {
          headers: { ...headersOf.html, ...session.admin.headers },
        }),
      );
  });

  it('is text on the final page, on the receipt and in every later response', async () => {
    expect((await session.submit(made, 'html', answers)).status).toBe(303);
    const final = await harmlessPage(await open());
    expect(final.text()).toContain(markup);
    await harmlessPage(await open('/child'));
    const receipt = await session.instance.fetch(`/receipts/${made.id}?t=${made.token}`, {
      headers: headersOf.html,
    });
    expect((await harmlessPage(receipt)).text()).toContain(markup);
    await harmlessPage(await session.submit(made, 'html', { ...answers, comment: ['another'] }));
  });

  it('is text in the export of the person', async () => {
    const path = `/subjects/${encodeURIComponent(made.subject)}/export`;
    const headers = { ...headersOf.html, ...session.operator.headers };
    const page = parsePage(await (await session.instance.fetch(path, { headers })).text());
    expect(page.text()).toContain(markup);
    for (const tag of ['script', 'img', 'link', 'form', 'iframe']) expect(page.tagged(tag), tag).toEqual([]);
    for (const { attribs } of page.elements) {
      expect(Object.keys(attribs).filter((name) => /^on|^style$/.test(name))).toEqual([]);
      expect(attribs.href ?? '').not.toMatch(/^\s*javascript:/i);
    }
  });

  it('is stored as written, except that URLs are encoded', async () => {
    const records = Object.values(
      await recordsOf(session.operator, made.subject, `&object=${encodeURIComponent(markup)}`),
    ).flat();
    expect(records.map(({ subject, object }) => [subject, object])).toEqual(
      Array(3).fill([made.subject, markup]),
    );
    expect(records.flatMap(({ values = [] }) => values)).toContain(markup);
    const { callback } = (await (await session.operator.get(`/consents/${made.id}`)).json()) as {
      callback: string;
    };
    expect(callback).not.toMatch(/[<>"]/);
  });
});

it('a form post with markup as field names leads to no other page', async () => {
  const fresh = await session.open({ language: 'fr', layoutData: { elements } });
  const body = `${writeForm({ info: ['x'] })}&${encodeURIComponent(markup)}=${encodeURIComponent(markup)}&accord-action=${encodeURIComponent(markup)}&accord-shown=${encodeURIComponent(markup)}`;
  const response = await session.storingNothing(() => session.submit(fresh, 'html', body));
  expect(response.status).toBe(422);
  await harmlessPage(response);
});
