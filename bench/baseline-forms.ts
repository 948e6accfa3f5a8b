import type { Queries } from '#lib/db/database.ts';
import { readActive } from '../services/forms/queries/active-entries.ts';

/** Pages of Accord, which the bare server sends as they are. */
export interface BaselineSamples {
  form: string;
  final: string;
}

interface Layout {
  info: string;
  elements: readonly string[];
}

/**
 * What Accord's forms do of each step, without their work: the same statement, and an answer of the same
 * size. What else the inputs hold is not looked at; it is as large as Accord's.
 */
export function createBaselineForms({ db, samples }: { db: Queries; samples: BaselineSamples }) {
  const readKeys = ({ info, elements }: Layout) => readActive(db, { keys: [info, ...elements] });
  return {
    async resolveLayout({ layout, pinned }: { layout: string; pinned: Layout }) {
      const { info, elements } = pinned;
      await readActive(db, { keys: [layout, info, ...elements], withDefault: false });
      return { layout: pinned };
    },
    async checkAnswers({ layout, answers }: { layout: Layout; answers: [string, string][] }) {
      await readKeys(layout);
      return { answers };
    },
    /** @param layout of a form; absent: a final page. */
    async renderPage({ layout }: { layout?: Layout; page: object }) {
      if (!layout) return { html: samples.final };
      await readKeys(layout);
      return { html: samples.form };
    },
  };
}

export type BaselineForms = ReturnType<typeof createBaselineForms>;
