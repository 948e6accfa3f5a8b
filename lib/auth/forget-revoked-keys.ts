import type { Authenticator } from '#lib/auth/authenticate.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { eachReplica } from '#lib/events/reader.ts';

/**
 * Has a replica refuse a key as soon as its revocation is told. Without events it does so when what it knows is 5 s old: the age limit is
 * what the promise rests on.
 */
export function forgetRevokedKeys({
  bus,
  service,
  authenticator,
}: {
  bus: EventBus;
  service: string;
  authenticator: Authenticator;
}): void {
  bus.subscribe('accord.keys', eachReplica(service, authenticator.forget), async ({ type }) => {
    if (type === 'io.accord.key.revoked.v1') authenticator.forget();
  });
}
