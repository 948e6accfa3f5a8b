import type { EachBatchPayload } from 'kafkajs';
import { settleWithin } from '#lib/async/timing.ts';

/** Tells the broker how far a group has read. */
export interface OffsetCommits {
  /** What a batch has resolved is committed before long, with what others resolve until then. */
  soon(payload: EachBatchPayload): void;
  /** Commits what is left, if the broker answers in time. */
  end(): Promise<void>;
}

/** What is not committed when a consumer dies comes again, and readers know it again; a request for each batch would cost more than it. */
const everyMs = 200;
const endMs = 1_000;

export function createOffsetCommits(): OffsetCommits {
  let latest: EachBatchPayload | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function commit(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const payload = latest;
    latest = undefined;
    // Named offsets: without them, and without auto-commit, kafkajs commits nothing. Of all partitions, whichever batch it is asked of.
    await payload?.commitOffsetsIfNecessary(payload.uncommittedOffsets());
  }

  return {
    soon(payload) {
      latest = payload;
      // A group that is changing takes none: the next commit, or the next member, makes good for it.
      timer ??= setTimeout(() => void commit().catch(() => {}), everyMs);
    },
    end: () => settleWithin(endMs, commit()),
  };
}
