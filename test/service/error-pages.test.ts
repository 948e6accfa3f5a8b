import { describe, expect, it, onTestFinished } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { startTestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { makeLiveModel, withdrawModel } from '../support/instances/live-models.ts';
import { createTransaction, expire, type LiveTransaction } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));

const browser = { Accept: 'text/html', 'Accept-Language': 'fr' };
const submit = ({ id, token }: LiveTransaction) =>
  instance.fetch(`/consents/${id}/submit?t=${token}`, {
    method: 'POST',
    headers: browser,
    body: new URLSearchParams(),
  });

describe('a late answer to a transaction that is not updatable', () => {
  it("shows a contact on the error page and on the transaction's page", async () => {
    const made = await createTransaction(admin, { updatable: false });
    await expire(instance, made);
    const late = await submit(made);
    expect(late.status).toBe(410);
    expect(await late.text()).toContain('Théâtre de la Rive');
    const page = await instance.fetch(made.url, { headers: browser });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('Théâtre de la Rive');
  });

  it('shows the instance alone once the information has been withdrawn', async () => {
    const info = await makeLiveModel(admin, 'information', { fr: { title: 'Vos données' } });
    const layoutData = { elements: ['processing.001'], info: info.key };
    const made = await createTransaction(admin, { updatable: false, layoutData });
    await expire(instance, made);
    await withdrawModel(admin, info);
    const late = await submit(made);
    expect(late.status).toBe(410);
    expect(await late.text()).toContain('l’organisme qui vous a envoyé');
  });

  it('offers to start again if the transaction is updatable', async () => {
    const made = await createTransaction(admin);
    await expire(instance, made);
    const page = await (await submit(made)).text();
    expect(page).toContain(`/consents/${made.id}/child?t=`);
    expect(page).not.toContain('privacy@riverside-theatre.example');
  });
});

describe('a link that does not work', () => {
  it('leads to no mail where none is sent, and says what to do without numbers', async () => {
    const mailless = await startTestInstance({ DEMO: 'false' });
    onTestFinished(() => mailless.stop());
    for (const path of ['/consents/1111111111111111111111?t=wrong', '/l/AAAAAAAAAA']) {
      const page = await (await mailless.fetch(path, { headers: browser })).text();
      expect(page).toContain('Ouvrez de nouveau');
      expect(page).not.toContain('/choices');
      expect(page).not.toMatch(/Erreur \d/);
    }
  });
});

describe('an error', () => {
  it.each(['text/html', 'application/json'])(
    'as %s says that it would be another for others',
    async (Accept) => {
      for (const path of ['/consents/1111111111111111111111', '/models/nowhere', '/user', '/nowhere'])
        expect((await instance.fetch(path, { headers: { Accept } })).headers.get('vary'), path).toMatch(
          /\bAccept\b/,
        );
    },
  );

  it('is the response to a path that differs from the contract', async () => {
    const { id, token } = await createTransaction(admin);
    for (const path of [
      `/consents/${id}/`,
      `/consents/${id}/submit/`,
      `/consents/${id}/SUBMIT`,
      '/models/',
      '/Models',
      '/user/',
    ])
      for (const Accept of ['text/html', 'application/json']) {
        const headers = { ...admin.headers, Accept };
        const answer = await instance.fetch(`${path}?t=${token}`, { headers });
        expect([path, answer.status]).toEqual([path, 404]);
      }
    const made = await instance.fetch('/consents/', { method: 'POST', headers: admin.headers });
    expect(made.status).toBe(404);
  });
});

it('a form whose questions were all withdrawn names a contact, and has no link to itself', async () => {
  const gone = await makeLiveModel(admin, 'processing', { fr: { ...sampleContent.processing } });
  const made = await createTransaction(admin, { layoutData: { elements: [gone.key] } });
  await withdrawModel(admin, gone);
  const page = await instance.fetch(`/consents/${made.id}/submit?t=${made.token}`, { headers: browser });
  expect(page.status).toBe(409);
  const html = await page.text();
  expect(html).not.toContain(`/consents/${made.id}`);
  expect(html).toContain('l’organisme qui vous a envoyé');
});
