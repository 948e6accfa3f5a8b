import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { activateContent, makeLiveModel } from '../support/instances/live-models.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Receipt = components['schemas']['Receipt'];

const instance = useInstance({ INSTANCE_NAME: 'Riverside Theatre' });
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));

const letter = 'element/processing/processing.001/1.0';
const often = 'element/preference/preference.001/1.0';
const wishes = 'element/preference/preference.003/1.0';
const season = 'element/conditions/conditions.001/1.0';

const receiptOf = async ({ id }: { id: string }) =>
  (await (await operator.get(`/receipts/${id}`)).json()) as Receipt;

describe('a receipt', () => {
  it('has the texts and answers in the language that was shown', async () => {
    const made = await createTransaction(operator, {
      subject: 'ann',
      layoutData: {
        info: 'information.001',
        elements: ['processing.001', 'preference.001', 'preference.003'],
      },
      language: 'fr',
      object: 'carte 12',
      origin: 'EMAIL',
      validity: 'P1Y',
      subjectInfos: { emailAddress: 'ann@example.org' },
      attributes: { campaign: 'spring' },
    });
    const posted = await instance.fetch(`${made.task}?t=${made.token}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        [letter]: ['refused'],
        [often]: ['Une fois par mois'],
        [wishes]: ['Une place "couloir"'],
      }),
    });
    expect(posted.status).toBe(200);
    const receipt = await receiptOf(made);
    const [record] = (await recordsOf(operator, 'ann'))['processing.001|ann|carte 12'] ?? [];
    expect(receipt).toMatchObject({
      receiptId: expect.stringMatching(/^\w{22}$/),
      transaction: made.id,
      subject: 'ann',
      subjectInfos: { emailAddress: 'ann@example.org' },
      object: 'carte 12',
      language: 'fr',
      jurisdiction: 'Union européenne',
      collector: { instance: instance.url, name: 'Riverside Theatre' },
      collectionMethod: 'EMAIL',
      author: 'ann',
      confirmation: 'NONE',
      timestamp: new Date(record?.creationTimestamp ?? 0).toISOString(),
      expirationTimestamp: new Date(record?.expirationTimestamp ?? 0).toISOString(),
      privacyPolicyUrl: 'https://riverside-theatre.example/privacy',
      attributes: { campaign: 'spring' },
    });
    expect(receipt.information).toMatchObject({
      identifier: 'element/information/information.001/1.0',
      lang: 'fr',
      texts: { title: 'Vos données, votre choix', dataController: { company: 'Théâtre de la Rive' } },
    });
    expect(receipt.consents).toMatchObject([
      { identifier: letter, type: 'processing', answer: ['refused'], options: ['accepted', 'refused'] },
      { identifier: often, type: 'preference', answer: ['Une fois par mois'] },
      { identifier: wishes, type: 'preference', answer: ['Une place "couloir"'], options: [] },
    ]);
    expect(receipt.consents[0]?.texts).toMatchObject({ title: 'La lettre du programme' });
    expect(receipt.consents[1]?.options).toEqual([
      'Chaque semaine',
      'Une fois par mois',
      'À l’ouverture d’une nouvelle saison',
    ]);
    expect(receipt.consents.map(({ owner, lang }) => [owner, lang])).toEqual(
      Array(3).fill(['Riverside Theatre', 'fr']),
    );
    expect(receipt).not.toHaveProperty('parent');
  });

  it('carries a fingerprint of each text that was shown: SHA-256 over its canonical JSON', async () => {
    const { information, consents } = await receiptOf(
      await recordAnswers(operator, 'ben', { [letter]: ['accepted'], [often]: ['Every week'] }),
    );
    for (const { texts, sha256 } of [information, ...consents])
      expect(sha256).toBe(
        createHash('sha256')
          .update(String(canonicalize(texts)))
          .digest('hex'),
      );
  });

  it('stays as it was written when the texts change afterwards', async () => {
    const element = await makeLiveModel(admin, 'processing', { en: sampleContent.processing });
    const name = `element/processing/${element.key}/1.0`;
    const made = await recordAnswers(operator, 'cleo', { [name]: ['accepted'] });
    const before = await receiptOf(made);
    await activateContent(admin, element, { en: { ...sampleContent.processing, title: 'New' } }, 'MAJOR');
    expect(await receiptOf(made)).toEqual(before);
    await admin.send('DELETE', `/models/${element.id}`);
    expect(await receiptOf(made)).toEqual(before);
    expect(before.consents[0]).toMatchObject({ identifier: name, texts: { title: 'Letter' } });
  });

  it('names the transaction that it updates, and who answered', async () => {
    const parent = await recordAnswers(operator, 'dora', { [letter]: ['accepted'] });
    const child = (await (await operator.send('POST', `/consents/${parent.id}/child`)).json()) as {
      id: string;
    };
    await operator.send('POST', `/consents/${child.id}/submit`, { [letter]: ['refused'] });
    expect(await receiptOf(child)).toMatchObject({ parent: parent.id, author: 'operator', subject: 'dora' });
    expect((await receiptOf(parent)).consents[0]?.answer).toEqual(['accepted']);
  });

  it('of conditions alone does not expire', async () => {
    const receipt = await receiptOf(await recordAnswers(operator, 'emil', { [season]: ['accepted'] }));
    expect(receipt).not.toHaveProperty('expirationTimestamp');
    expect(receipt.consents).toMatchObject([{ type: 'conditions', answer: ['accepted'] }]);
  });

  it('has no address to change the answers where they cannot be changed', async () => {
    const fixed = await recordAnswers(operator, 'fay', { [letter]: ['accepted'] }, { updatable: false });
    expect(await receiptOf(fixed)).not.toHaveProperty('updateUrl');
    const open = await receiptOf(await recordAnswers(operator, 'gus', { [letter]: ['accepted'] }));
    expect(open.updateUrl).toMatch(new RegExp(`^${instance.url}/consents/${open.transaction}/child\\?t=`));
  });

  it('omits missing members', async () => {
    const receipt = await receiptOf(await recordAnswers(operator, 'hope', { [letter]: ['accepted'] }));
    for (const name of ['subjectInfos', 'object', 'attributes', 'parent'])
      expect(receipt).not.toHaveProperty(name);
  });
});
