import { beforeAll, describe, expect, it } from 'vitest';
import { activateContent, makeLiveModel } from '../support/instances/live-models.ts';
import { createTransaction, expire, type LiveTransaction } from '../support/instances/live-transactions.ts';
import { auditPage } from '../support/pages/audit-page.ts';
import { subjectSession } from '../support/pages/subject-session.ts';

const session = subjectSession();

const everything = {
  cancellable: true,
  layoutData: {
    type: 'layout',
    theme: 'theme.001',
    elements: [
      'processing.001',
      'processing.002',
      'processing.003',
      'preference.001',
      'preference.002',
      'preference.003',
    ],
    acceptAllVisible: true,
    cancelVisible: true,
  },
};
const sideBySide = {
  layoutData: { ...everything.layoutData, orientation: 'HORIZONTAL', footerOnTop: true },
};
const conditions = { layoutData: { type: 'layout', elements: ['conditions.001'] } };
const one = { layoutData: { type: 'layout', elements: ['processing.001'], existingElementsVisible: false } };
const accepted = { 'element/processing/processing.001/1.0': ['accepted'] };

const create = (context: object = {}) =>
  createTransaction(session.operator, context as Record<string, unknown>);

let language = 'en';

async function post({ id, token }: LiveTransaction, step: 'submit' | 'cancel', body?: object): Promise<void> {
  const headers = { 'Accept-Language': language, ...(body && { 'Content-Type': 'application/json' }) };
  const response = await session.instance.fetch(`/consents/${id}/${step}?t=${token}`, {
    method: 'POST',
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
}

async function committed(): Promise<LiveTransaction> {
  const transaction = await create(one);
  await post(transaction, 'submit', accepted);
  return transaction;
}

type Open = (url: string) => Promise<unknown>;
const send = () => session.page.locator('[name=accord-action][value=submit]').click();
const at = ({ id, token }: LiveTransaction, step: string) =>
  `${session.instance.url}/${step.replace('ID', id)}?t=${token}`;

/** How each page of the subject's path is reached, in any language; the browser says which. */
const pages: Record<string, { shows: string; reach: (open: Open) => Promise<unknown> }> = {
  'the form': { shows: '#choices', reach: async (open) => open((await create()).url) },
  'a form of every kind of question, themed': {
    shows: '[form=cancel]',
    reach: async (open) => open((await create(everything)).url),
  },
  'a form side by side': {
    shows: '.questions-horizontal',
    reach: async (open) => open((await create(sideBySide)).url),
  },
  conditions: { shows: '#choices', reach: async (open) => open((await create(conditions)).url) },
  faults: {
    shows: '.notice-fault',
    async reach(open) {
      await open((await create(everything)).url);
      await send();
    },
  },
  'changed questions': {
    shows: '.notice-changed',
    async reach(open) {
      const content = {
        en: { title: 'A walk', data: 'Name', usage: 'Letters', retention: { label: 'a year' } },
      };
      const model = await makeLiveModel(session.admin, 'processing', content);
      const layoutData = { type: 'layout', elements: ['processing.001', model.key] };
      await open((await create({ layoutData })).url);
      await activateContent(session.admin, model, content, 'MAJOR');
      await send();
    },
  },
  'the result': { shows: '.page-committed', reach: async (open) => open((await committed()).url) },
  'the receipt': {
    shows: '.page-receipt',
    reach: async (open) => open(at(await committed(), 'receipts/ID')),
  },
  'the door to a change': {
    shows: '.page-child',
    reach: async (open) => open(at(await committed(), 'consents/ID/child')),
  },
  'earlier answers': {
    shows: 'input:checked',
    async reach(open) {
      const { subject } = await committed();
      await open((await create({ subject })).url);
    },
  },
  'already answered': {
    shows: '.page-answered',
    async reach(open) {
      const { subject } = await committed();
      await open((await create({ ...one, subject, validity: 'P1Y' })).url);
    },
  },
  cancelled: {
    shows: '.page-cancelled',
    async reach(open) {
      const transaction = await create({ cancellable: true });
      await post(transaction, 'cancel');
      await open(transaction.url);
    },
  },
  'too late': {
    shows: '.page-timeout',
    async reach(open) {
      const transaction = await create();
      await expire(session.instance, transaction);
      await open(transaction.url);
    },
  },
  'sent too late': {
    shows: '.page-error',
    async reach(open) {
      const transaction = await create();
      await open(transaction.url);
      await expire(session.instance, transaction);
      await send();
    },
  },
  'sent a second time': {
    shows: '.page-error',
    async reach(open) {
      const transaction = await create(one);
      await open(transaction.url);
      await post(transaction, 'submit', { 'element/processing/processing.001/1.0': ['refused'] });
      await session.page.locator('[value=accepted]').check();
      await send();
    },
  },
  'a wrong link': { shows: '.page-error', reach: (open) => open(`${session.instance.url}/consents/1?t=1`) },
  'no page at all': { shows: '.page-error', reach: (open) => open(`${session.instance.url}/nowhere`) },
  'the first page': { shows: '.page-welcome iframe', reach: (open) => open(session.instance.url) },
  'a page of another site': {
    shows: '.page-host iframe',
    reach: (open) => open(`${session.instance.url}/demo`),
  },
};

/** Every page in every language is looked at in pages-axe.test.ts. */
describe.each([
  { language: 'en', locale: 'en-GB', dir: 'ltr' },
  { language: 'ar', locale: 'ar-EG', dir: 'rtl' },
])('in $language, light and dark, narrow and wide', ({ locale, dir, ...reader }) => {
  beforeAll(() => {
    language = reader.language;
  });

  it.each(Object.entries(pages))('%s has no fault', async (_, { shows, reach }) => {
    await reach((url) => session.open(url, { locale }));
    await session.page.locator(shows).first().waitFor();
    const html = session.page.locator('html');
    expect([await html.getAttribute('lang'), await html.getAttribute('dir')]).toEqual([
      expect.stringMatching(new RegExp(`^${language}\\b`)),
      dir,
    ]);
    expect(await auditPage(session.page)).toEqual([]);
  });
});

describe('in English alone', () => {
  it('the page of a problem has no fault', async () => {
    expect(await session.open(`${session.instance.url}/docs/problems/stale-serial`)).toBe(200);
    expect(await auditPage(session.page)).toEqual([]);
  });

  it.each(['', '?group=consents', '?group=models', '?group=livez'])(
    'the documentation has no fault: %s',
    async (group) => {
      expect(await session.open(`${session.instance.url}/docs${group}`)).toBe(200);
      // Operations are drawn alike.
      const isLaterOne =
        ':is(article.operation ~ article.operation ~ article.operation, .reference-nav section li ~ li)';
      await session.page.evaluate(
        `document.querySelectorAll('.reference ${isLaterOne}').forEach((each) => each.remove())`,
      );
      expect(await session.page.locator('article.operation').count()).toBe(
        group ? (group.endsWith('livez') ? 1 : 2) : 0,
      );
      expect(await auditPage(session.page)).toEqual([]);
    },
  );
});
