import { cpuSeconds, cpuSecondsWithChildren } from './process-usage.ts';
import { runFlow, type Step, steps, type Target } from './run-flow.ts';

/** Flows that ran together. */
export interface Phase {
  flows: number;
  seconds: number;
  /** Of the server's own processes. */
  cpuSeconds: number;
  /** Of its PostgreSQL; 0 if that is not named. */
  postgresSeconds: number;
  /** Milliseconds of every request. */
  times: Record<Step, number[]>;
}

/**
 * Runs flows, so many at a time, until all are done.
 * @param target with the processes of the server, and of its PostgreSQL the first one.
 * @param subjectOf names the subject of each flow by its number.
 */
export async function runPhase(
  target: Target & { pids: readonly number[]; postmaster?: number | undefined },
  {
    flows,
    concurrency,
    subjectOf,
  }: { flows: number; concurrency: number; subjectOf: (flow: number) => { subject: string; order: number } },
): Promise<Phase> {
  const times = Object.fromEntries(steps.map((step) => [step, [] as number[]])) as Phase['times'];
  const started = performance.now();
  const cpuBefore = cpuOf(target.pids);
  const postgresCpu = () => (target.postmaster ? cpuSecondsWithChildren(target.postmaster) : 0);
  const postgresBefore = postgresCpu();
  let next = 0;
  const walk = async () => {
    while (next < flows) {
      const flow = next;
      next += 1;
      await runFlow(target, subjectOf(flow), (step, ms) => times[step].push(ms));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, walk));
  return {
    flows,
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: cpuOf(target.pids) - cpuBefore,
    postgresSeconds: postgresCpu() - postgresBefore,
    times,
  };
}

function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}

/** Puts phases of one server together. */
export function addPhases(phases: readonly Phase[]): Phase {
  const sum = (of: (phase: Phase) => number) => phases.reduce((total, phase) => total + of(phase), 0);
  return {
    flows: sum(({ flows }) => flows),
    seconds: sum(({ seconds }) => seconds),
    cpuSeconds: sum((phase) => phase.cpuSeconds),
    postgresSeconds: sum((phase) => phase.postgresSeconds),
    times: Object.fromEntries(
      steps.map((step) => [step, phases.flatMap(({ times }) => times[step])]),
    ) as Phase['times'],
  };
}

/** @param share 0.5 for the median. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
