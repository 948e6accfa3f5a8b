import { createSecretBox } from '#lib/jose/secret-box.ts';
import type { Messaging } from '../../../services/transactions/messages/queue.ts';

/** Messaging of an instance without mail and SMS. */
export const noMessaging: Messaging = {
  channels: { mail: null, sms: null },
  box: createSecretBox([Buffer.alloc(32)], 'test'),
  addressOf: () => Buffer.alloc(32),
  openHour: async () => async () => 0,
  async queue() {
    throw new Error('there is neither mail nor SMS');
  },
};
