import type { components } from '#lib/contracts/openapi.gen.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { planDigest } from '#lib/models/plan-steps.ts';
import { applyStep } from '../commands/apply-model.ts';
import { planModels } from '../commands/plan-models.ts';
import { presentEntry } from '../presenters/present-model.ts';
import { readVersionSummaries } from '../queries/versions.ts';
import type { Dependencies } from './dependencies.ts';

type Schemas = components['schemas'];

/** Handlers of `/models/plan` and `/models/apply`. */
export function planHandlers(dependencies: Pick<Dependencies, 'db' | 'source' | 'wake'>) {
  return {
    async planModels(ctx, { body }) {
      const { steps, faults } = await planModels(dependencies, body);
      ctx.body = { digest: planDigest(steps), steps, faults } satisfies Schemas['ModelPlan'];
    },

    async applyModel(ctx, { body }) {
      const { change, entry } = await applyStep(dependencies, body);
      const versions = await readVersionSummaries(dependencies.db, [entry.id]);
      ctx.body = { change, entry: presentEntry(entry, versions) } satisfies Schemas['AppliedModel'];
    },
  } satisfies OperationHandlers;
}
