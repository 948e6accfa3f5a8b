import type { Form } from './load.ts';
import type { Environment, Organisation } from './organisation.ts';
import type { Router } from './router.ts';

/** What a scenario works with. */
export interface Stage extends Environment {
  router: Router;
  /** The organisation that is installed first, its form, and an access token with the role `admin`. */
  organisation: Organisation;
  form: Form;
  token: string;
  /** Tag of the image of a later version, with one more migration. */
  nextTag: string;
  say(line: string): void;
}

/** A promise of the chart, and the way in which it is tried. */
export interface Scenario {
  name: string;
  /** Whether it is tried without `--all`. */
  isQuick?: true;
  /** A sentence for the report. */
  promise: string;
  /** A paragraph for the report: what the figures mean, and why. */
  note?: string;
  /** @returns figures for the report. @throws if the promise is broken */
  run(stage: Stage): Promise<string>;
}

/** @throws Error with the message, unless the condition holds. */
export function expectThat(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Waits for a condition. @throws Error that names it after the time in milliseconds */
export async function waitUntil(
  what: string,
  isTrue: () => Promise<boolean>,
  timeout = 120_000,
): Promise<number> {
  const started = performance.now();
  let reason = '';
  for (;;) {
    const holds = await isTrue().catch((error: Error) => {
      reason = error.message;
      return false;
    });
    if (holds) return (performance.now() - started) / 1000;
    if (performance.now() - started > timeout) throw new Error(`timed out: ${what} ${reason}`.trim());
    await new Promise((again) => setTimeout(again, 500));
  }
}
