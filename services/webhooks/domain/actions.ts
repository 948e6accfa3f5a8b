/** What a webhook can subscribe to: events of asyncapi.yaml. */
const names = [
  ...['consent.created', 'consent.submitted', 'consent.committed', 'consent.cancelled', 'consent.timedout'],
  ...['consent.rolledback', 'consent.expiring', 'consent.expired', 'record.superseded'],
  ...['model.activated', 'model.archived', 'model.deleted', 'peer.added', 'peer.removed'],
  ...['peer.submission.delivered', 'peer.submission.accepted', 'peer.submission.refused'],
  ...['key.created', 'key.revoked'],
];

/** Names that existing integrations subscribe with, and what they mean. */
const olderNames: Readonly<Record<string, string>> = { CONSENT_COMMIT: 'consent.committed' };

const known = new Set([...names, ...Object.keys(olderNames)]);

/** Every name that `subscribedActions` takes. */
export const actionNames: readonly string[] = [...known];

export function isAction(name: string): boolean {
  return known.has(name);
}

/** The action that an event tells of. @param type `io.accord.<name>.v1`; undefined if webhooks do not carry it. */
export function actionOf(type: string): string | undefined {
  const name = /^io\.accord\.([a-z.]+)\.v1$/.exec(type)?.[1];
  return name !== undefined && known.has(name) ? name : undefined;
}

/** All names with which somebody may have subscribed to an action. */
export function subscribableAs(action: string): string[] {
  const older = Object.keys(olderNames).filter((name) => olderNames[name] === action);
  return [action, ...older];
}
