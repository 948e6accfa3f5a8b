import { type Fault, fail } from '#lib/errors/fail.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { actionNames, isAction } from './actions.ts';

/** What callers say of a webhook; what is left out stays as it is. */
export interface WebhookInput {
  name?: string;
  targetUrl?: string;
  subscribedActions?: string[];
}

const maxName = 255;
const maxUrl = 2048;

/**
 * Reads what a caller says of a webhook: names trimmed and NFC, actions once each.
 * @param targetRefusal why the address is not called; undefined if it may be.
 * @throws Failure `invalid` with every fault.
 */
export function readWebhook<T extends WebhookInput>(input: T, targetRefusal: string | undefined): T {
  const faults: Fault[] = [];
  const refuse = (pointer: string, detail: string) => faults.push({ pointer, code: 'invalid', detail });
  const name = input.name === undefined ? undefined : readBoundedText(input.name, maxName);
  if (input.name !== undefined && !name) refuse('/name', `A name has 1 to ${maxName} characters.`);
  const targetUrl = input.targetUrl?.trim();
  if (targetRefusal) refuse('/targetUrl', targetRefusal);
  else if (targetUrl !== undefined && targetUrl.length > maxUrl)
    refuse('/targetUrl', `An address has at most ${maxUrl} characters.`);
  input.subscribedActions?.forEach((action, index) => {
    if (!isAction(action)) refuse(`/subscribedActions/${index}`, `Actions are ${actionNames.join(', ')}.`);
  });
  if (input.subscribedActions?.length === 0) refuse('/subscribedActions', 'Name at least one action.');
  if (faults.length > 0) throw fail('invalid', 'The webhook cannot be kept like this.', { errors: faults });
  return {
    ...input,
    ...(name === undefined ? {} : { name }),
    ...(targetUrl === undefined ? {} : { targetUrl }),
    ...(input.subscribedActions ? { subscribedActions: [...new Set(input.subscribedActions)] } : {}),
  };
}
