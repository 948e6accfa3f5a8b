import { createSecretBox } from '#lib/jose/secret-box.ts';
import type { Messaging } from '../../../services/transactions/messages/queue.ts';

/** Messaging of an instance without mail and SMS. */
export const noMessaging: Messaging = {
  channels: { mail: null, sms: null },
  limits: { codes: 0, messages: 0, prefix: 0, sms: 0, mails: 0, creator: 0 },
  box: createSecretBox([Buffer.alloc(32)], 'test'),
  digests: { addressOf: () => Buffer.alloc(32), queueOf: () => 'sms' },
  reportLimited() {},
  reportHourly() {},
};
