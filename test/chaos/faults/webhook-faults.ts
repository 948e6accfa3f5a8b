import type { Manner, WebhookReceiver } from '../world/webhook-receiver.ts';
import type { Fault } from './fault.ts';
import { formAndSubmit } from './fault.ts';

const names: readonly (readonly [Manner, string])[] = [
  ['not at all', 'webhook receiver down'],
  ['slowly', 'webhook receiver slow'],
  ['wrongly', 'webhook receiver wrong'],
];

/** What happens to somebody else's endpoint; nobody else notices. */
export function webhookFaults(receiver: WebhookReceiver): Fault[] {
  return names.map(([manner, name]) => ({
    ...{ name, breaks: 'webhook receiver', lasts: [1_000, 6_000], promised: formAndSubmit },
    async strike() {
      await receiver.behave(manner);
      return () => receiver.behave('well');
    },
  }));
}
