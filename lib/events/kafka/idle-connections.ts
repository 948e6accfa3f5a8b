import { createRequire } from 'node:module';

/** What a connection of kafkajs has yet to send; a part of it that its own types do not show. */
interface RequestQueue {
  pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

const require = createRequire(import.meta.url);

/**
 * In kafkajs 2.2.4 every connection looks a thousand times a second, for ever, whether a request waits to be sent, because the time of its next
 * look lies in the past: in each process that costs a few hundredths of a core, and a warning of a negative timer. It needs to look only while
 * something does wait.
 */
export function quietenIdleConnections(): void {
  const { prototype } = require('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleIfNeeded() {
    if (this.pending.length > 0) schedule.call(this);
  };
}
