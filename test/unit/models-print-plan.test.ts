import { describe, expect, it } from 'vitest';
import type { FolderStep } from '#lib/models/plan-folder.ts';
import { printPlan } from '#lib/models/print-plan.ts';

function stepOf(step: Pick<FolderStep['step'], 'type' | 'change'>, count: number): FolderStep {
  const none = { differences: [], layouts: [], peers: [], notice: [] };
  return {
    step: { key: 'letter', name: 'Letter', digest: '', ...none, ...step },
    answers: { count, atLeast: count > 5 },
  };
}

describe('a plan', () => {
  it.each([
    [
      'information',
      'CHANGED',
      6,
      'at least 6 valid answers given under it stop counting, and are asked for again',
    ],
    ['information', 'ARCHIVED', 2, '2 valid answers given under it stop counting'],
    ['processing', 'CHANGED', 1, '1 valid answer stops counting, and is asked for again'],
    ['preference', 'ARCHIVED', 0, '0 valid answers stop counting'],
  ] as const)('of %s %s counts valid answers, not people: %i', async (type, change, count, words) => {
    const printed = await printPlan({ digest: '', steps: [stepOf({ type, change }, count)], faults: [] });
    expect(printed).toContain(`\n    answers: ${words}\n`);
  });
});
