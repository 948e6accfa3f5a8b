import { StartupError } from '#lib/errors/fail.ts';
import type { WantedModel } from '#lib/models/model-file.ts';
import type { Schemas } from '#lib/models/models-api.ts';
import { inApplyOrder } from '#lib/models/plan-steps.ts';
import type { InstanceClient } from '#lib/moving/instance-client.ts';

type Step = Schemas['ModelStep'];

/** Less than the 1 MiB that a request may have. */
const maxBytes = 900_000;

/**
 * Makes models as they should be, or changes them (docs/consent-as-code.md): of those that say the same here
 * nothing is changed.
 * @returns the steps that were done, or would be.
 * @throws StartupError that names what is not valid; then nothing is done.
 */
export async function bringPlanned(
  target: InstanceClient,
  models: readonly WantedModel[],
  isDryRun: boolean,
): Promise<Step[]> {
  const steps: Step[] = [];
  const faults: string[] = [];
  for (const part of partsOf(models)) {
    const others = models.flatMap(({ key, type }) =>
      part.some((each) => each.key === key) ? [] : { key, type },
    );
    const plan = await target.send<Schemas['ModelPlan']>('POST', '/models/plan', { models: part, others });
    steps.push(...plan.steps.filter(({ change }) => change === 'CREATED' || change === 'CHANGED'));
    faults.push(...plan.faults.map((fault) => sayFault(part, fault)));
  }
  if (faults.length > 0) throw new StartupError(['The models are not valid here:', ...faults].join('\n  '));
  const ordered = inApplyOrder(steps);
  if (isDryRun) return ordered;
  for (const { key, digest } of ordered) {
    const model = models.find((each) => each.key === key);
    await target.send('POST', '/models/apply', { digest, model });
  }
  return ordered;
}

function partsOf(models: readonly WantedModel[]): WantedModel[][] {
  const parts: WantedModel[][] = [];
  let bytes = maxBytes;
  for (const model of models) {
    const size = Buffer.byteLength(JSON.stringify(model)) + 1;
    if (bytes + size > maxBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(model);
    bytes += size;
  }
  return parts;
}

function sayFault(part: readonly WantedModel[], { pointer, detail }: Schemas['Fault']): string {
  const [, , index, ...rest] = pointer.split('/');
  return `${part[Number(index)]?.key ?? ''} ${rest.join('/')} ${detail}`;
}
