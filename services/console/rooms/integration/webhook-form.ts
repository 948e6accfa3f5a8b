import { subscribableActions } from '#lib/contracts/webhook-actions.ts';
import type { Schemas } from '../../api/api-types.ts';
import { factsView } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import {
  type FieldSpec,
  fieldsFor,
  keysIn,
  type PostedForm,
  readerOf,
  wordChoices,
} from '../../pages/form.ts';
import { stateMark } from '../../pages/states.ts';

type Webhook = Schemas['Webhook'];

/** The fields of a webhook that people set. */
export function fieldsOf(reader: ConsoleReader): FieldSpec[] {
  const field = fieldsFor(reader, 'webhooks');
  const actions = wordChoices(reader, 'webhookAction', subscribableActions);
  return [
    field('name', { maxLength: 255 }),
    field('targetUrl', { word: 'url', kind: 'url', isRequired: true, maxLength: 2048 }),
    field('actions', { kind: 'checks', pointer: '/subscribedActions', options: actions }),
    field('recipient', { maxLength: 255 }),
    field('elements', { isCode: true }),
    field('acknowledgeWithin', { maxLength: 100, isCode: true }),
  ];
}

/** What the fields show of a webhook. */
export function valuesOf(webhook: Webhook) {
  const { name, targetUrl, subscribedActions: actions, recipient, acknowledgeWithin } = webhook;
  const elements = webhook.elements?.join(', ');
  return { name, targetUrl, actions, recipient, elements, acknowledgeWithin };
}

/** The body of the API for a posted form. */
export function readWebhook(posted: PostedForm) {
  const one = readerOf(posted);
  return {
    ...(one('name') && { name: one('name') }),
    targetUrl: one('targetUrl'),
    subscribedActions: [...(posted.actions ?? [])],
    recipient: one('recipient'),
    elements: keysIn(one('elements')),
    acknowledgeWithin: one('acknowledgeWithin'),
  };
}

/** Whether and since when an endpoint fails, as a state. */
export function markOf(reader: ConsoleReader, { state, failingSince }: Webhook) {
  return stateMark(reader, 'webhookState', state === 'PAUSED' ? state : failingSince ? 'FAILING' : 'ACTIVE');
}

/** The facts of a webhook on its page. */
export function factsOf(reader: ConsoleReader, webhook: Webhook) {
  const { targetUrl, failingSince, lastError, creationDate, recipient, elements, acknowledgeWithin } =
    webhook;
  return factsView(reader, {
    'webhooks.state': { state: markOf(reader, webhook) },
    'webhooks.url': { code: targetUrl },
    'webhooks.failingSince': failingSince && { time: reader.time(failingSince) },
    'webhooks.lastError': lastError && { text: lastError.reason },
    'webhooks.recipient': recipient && { text: recipient },
    'webhooks.elements': elements && { code: elements.join(', ') },
    'webhooks.acknowledgeWithin': acknowledgeWithin && { code: acknowledgeWithin },
    'webhooks.created': { time: reader.time(creationDate) },
  });
}
