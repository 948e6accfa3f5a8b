import type { EventData } from '#lib/contracts/events.gen.ts';
import type { Database } from '#lib/db/database.ts';
import { type EventBus, sharedReader } from '#lib/events/event-bus.ts';
import { storeNotice } from '../sent-parts/notices-store.ts';

/**
 * Stores what organisations know of withdrawals and erasures. Idempotent and independent of the order of
 * events, because only a newer version of a notice is stored.
 */
export function followNotices({ bus, db }: { bus: EventBus; db: Database }): void {
  bus.subscribe('accord.notices', sharedReader({ name: 'transactions', db }), ({ data }) =>
    storeNotice(db, data as EventData['io.accord.notice.queued.v1']),
  );
}
