/** Actions that a webhook can subscribe to: events of asyncapi.yaml. */
const names = [
  'consent.created',
  'consent.submitted',
  'consent.committed',
  'consent.cancelled',
  'consent.timedout',
  'consent.rolledback',
  'consent.expiring',
  'consent.expired',
  'record.superseded',
  'message.sent',
  'message.failed',
  'model.activated',
  'model.archived',
  'model.deleted',
  'peer.added',
  'peer.removed',
  'peer.submission.delivered',
  'peer.submission.accepted',
  'peer.submission.refused',
  'key.created',
  'key.revoked',
];

/** Names that existing integrations use, and the actions that they mean. */
const aliases: Readonly<Record<string, string>> = { CONSENT_COMMIT: 'consent.committed' };

const known = new Set([...names, ...Object.keys(aliases)]);

/** Every name that `subscribedActions` accepts. */
export const actionNames: readonly string[] = [...known];

export function isAction(name: string): boolean {
  return known.has(name);
}

/** The action of an event type `io.accord.<name>.v1`; undefined if webhooks do not deliver it. */
export function actionOf(type: string): string | undefined {
  const name = /^io\.accord\.([a-z.]+)\.v1$/.exec(type)?.[1];
  return name !== undefined && known.has(name) ? name : undefined;
}

/** An action and its aliases. */
export function namesOf(action: string): string[] {
  return [action, ...Object.keys(aliases).filter((alias) => aliases[alias] === action)];
}
