import type { Database } from '#lib/db/database.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { sharedReader } from '#lib/events/reader.ts';
import type { PeerTeller } from '../jobs/tell-peers.ts';

/** Topic accord.models: what has changed may be what peers show. Which of them it concerns is found out when they are told. */
export function followModels({ bus, db, teller }: { bus: EventBus; db: Database; teller: PeerTeller }): void {
  bus.subscribe('accord.models', sharedReader({ name: 'peers', db }), async () => teller.changed());
}
