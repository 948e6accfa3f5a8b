import { randomId } from '#lib/ids/random-ids.ts';

/** Remembers the creating forms that were sent, on every replica. */
export interface OnceStore {
  /** @returns false if the value was taken before. */
  take(value: string): Promise<boolean>;
  /** Frees a value whose form made nothing, so that the corrected form can be sent. */
  free(value: string): Promise<void>;
}

/** Keeps a creating form from making two things when it is sent twice. */
export interface Once {
  /** A value for the hidden field `once` of a new form. */
  make(): string;
  /**
   * Runs `create` unless the same form was sent before. A failure with a status below 500 made nothing, so
   * the form may be sent again.
   * @returns the result, or `repeated`: then nothing was made, and the page says so.
   */
  run<T>(value: string | undefined, create: () => Promise<T>): Promise<{ made: T } | 'repeated'>;
}

const pattern = /^[1-9A-HJ-NP-Za-km-z]{22}$/;

export function createOnce(store: OnceStore): Once {
  return {
    make: randomId,
    async run(value, create) {
      if (value === undefined || !pattern.test(value) || !(await store.take(value))) return 'repeated';
      try {
        return { made: await create() };
      } catch (error) {
        if (((error as { status?: number }).status ?? 401) < 500) await store.free(value);
        throw error;
      }
    },
  };
}
