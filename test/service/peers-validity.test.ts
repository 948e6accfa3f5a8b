import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ShownChoices } from '../support/instances/choices-visitor.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { type ClinicAndLab, startClinicAndLab } from '../support/peers/clinic-and-lab.ts';
import { until } from '../support/run/until.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

let world: ClinicAndLab;
beforeAll(async () => {
  world = await startClinicAndLab();
}, 60_000);
afterAll(() => world?.stop());

it("an answer to a peer's question is valid as long as its owner says, and shorter if the form says so", async () => {
  const { key } = await makeLiveModel(world.labAdmin, 'processing', {
    en: { ...sampleContent.processing, title: 'Samples for research', validity: 'P30Y' },
  });
  const { id, name } = (await (await world.labAdmin.get(`/models/serials/${key}`)).json()) as {
    id: string;
    name: string;
  };
  await world.labAdmin.send('PUT', `/models/${id}`, { name, shared: true });
  const theirs = `${key}@${new URL(world.lab.url).host}`;

  /** How many months an answer that was given at the clinic is valid at the laboratory. */
  async function monthsWith(context: { validity?: string }): Promise<number> {
    const layoutData = { elements: [theirs] };
    const made = await until(() => createTransaction(world.clinicAdmin, { layoutData, ...context }));
    const answers = { [`element/processing/${theirs}/1.0`]: ['accepted'] };
    expect((await subjectOf(world.clinic, made).submit(answers)).status).toBe(200);
    return until(async () => {
      const read = await world.labAdmin.get(`/choices?subject=${made.subject}`);
      const [own] = ((await read.json()) as ShownChoices).organisations;
      const [choice] = own?.choices ?? [];
      expect(choice).toMatchObject({ identifier: `element/processing/${key}/1.0`, reason: 'GIVEN' });
      const { given = '', expires = '' } = choice as { given?: string; expires?: string };
      return Math.round((Date.parse(expires) - Date.parse(given)) / (30.4375 * 86_400_000));
    });
  }

  expect(await monthsWith({})).toBe(360);
  expect(await monthsWith({ validity: 'P6M' })).toBe(6);
  expect(await monthsWith({ validity: 'P2Y' })).toBe(24);
  expect(await monthsWith({ validity: 'P40Y' })).toBe(360);
});
