import { subscribableActions } from '#lib/contracts/webhook-actions.ts';
import type { Schemas } from '../../api/api-types.ts';
import { factsView } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor, type PostedForm, readerOf, wordChoices } from '../../pages/form.ts';
import { outboundReason } from '../../pages/outbound-reason.ts';
import { stateMark } from '../../pages/states.ts';

type Webhook = Schemas['Webhook'];

/** Offered periods; a period that a program has set stays chosen. */
const periods = ['P1D', 'P2D', 'P3D', 'P7D', 'P14D', 'P30D'];

/** Events of a kind stand together. */
function sectionOf(action: string): 'consents' | 'messages' | 'models' | 'peers' | 'instance' {
  const [kind = ''] = action.split('.');
  if (kind === 'message' || kind === 'campaign') return 'messages';
  if (kind === 'model') return 'models';
  if (kind === 'peer') return 'peers';
  return kind === 'key' || kind === 'audit' ? 'instance' : 'consents';
}

/** The actions, those of one section after the other. */
const orderedActions = ['consents', 'messages', 'models', 'peers', 'instance'].flatMap((section) =>
  subscribableActions.filter((action) => sectionOf(action) === section),
);

/** The fields of a webhook that people set. @param names of the elements, by key. */
export function fieldsOf(
  reader: ConsoleReader,
  names: ReadonlyMap<string, string>,
  { acknowledgeWithin: within = '', elements = [] }: Partial<Webhook> = {},
): FieldSpec[] {
  // A key that is unknown here was set by a program, and stays unless it is taken away.
  const keys = [...new Set([...names.keys(), ...elements])];
  const field = fieldsFor(reader, 'webhooks');
  const actions = wordChoices(reader, 'webhookAction', orderedActions);
  return [
    field('name', { maxLength: 255 }),
    field('targetUrl', { word: 'url', kind: 'url', isRequired: true, maxLength: 2048 }),
    field('actions', {
      kind: 'checks',
      pointer: '/subscribedActions',
      options: actions,
      sectionOf: (action) => reader.t(`webhooks.section.${sectionOf(action)}`),
      showsValues: true,
    }),
    field('recipient', { maxLength: 255 }),
    field('elements', { kind: 'checks', options: keys.map((key) => [key, names.get(key) ?? key]) }),
    field('acknowledgeWithin', {
      kind: 'select',
      options: [
        ['', reader.t('webhooks.noAcknowledgement')],
        ...[...new Set([...periods, within])]
          .filter(Boolean)
          .map((each) => [each, reader.duration(each)] as const),
      ],
    }),
  ];
}

/** What the fields show of a webhook. */
export function valuesOf(webhook: Webhook) {
  const { name, targetUrl, subscribedActions: actions, recipient, acknowledgeWithin } = webhook;
  return { name, targetUrl, actions, recipient, elements: webhook.elements, acknowledgeWithin };
}

/** The body of the API for a posted form. */
export function readWebhook(posted: PostedForm) {
  const one = readerOf(posted);
  return {
    ...(one('name') && { name: one('name') }),
    targetUrl: one('targetUrl'),
    subscribedActions: [...(posted.actions ?? [])],
    recipient: one('recipient'),
    elements: [...(posted.elements ?? [])],
    acknowledgeWithin: one('acknowledgeWithin'),
  };
}

/** Whether and since when an endpoint fails, as a state. */
export function markOf(reader: ConsoleReader, { state, failingSince }: Webhook) {
  return stateMark(reader, 'webhookState', state === 'PAUSED' ? state : failingSince ? 'FAILING' : 'ACTIVE');
}

/** The facts of a webhook on its page. @param names of the elements, by key. */
export function factsOf(reader: ConsoleReader, names: ReadonlyMap<string, string>, webhook: Webhook) {
  const { targetUrl, failingSince, lastError, creationDate, recipient, elements, acknowledgeWithin } =
    webhook;
  return factsView(reader, {
    'webhooks.state': { state: markOf(reader, webhook) },
    'webhooks.url': { code: targetUrl },
    'webhooks.failingSince': failingSince && { time: reader.time(failingSince) },
    'webhooks.lastError': lastError && {
      text: outboundReason(reader, { code: lastError.code, text: lastError.reason }),
    },
    'webhooks.recipient': recipient && { text: recipient },
    'webhooks.elements': elements && { text: reader.list(elements.map((key) => names.get(key) ?? key)) },
    'webhooks.acknowledgeWithin': acknowledgeWithin && { text: reader.duration(acknowledgeWithin) },
    'webhooks.created': { time: reader.time(creationDate) },
  });
}
