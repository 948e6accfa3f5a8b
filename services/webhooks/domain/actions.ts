import { subscribableActions as names } from '#lib/contracts/webhook-actions.ts';

/** Names that existing integrations use, and the actions that they mean. */
const aliases: Readonly<Record<string, string>> = { CONSENT_COMMIT: 'consent.committed' };

/** The action of a test message, which no webhook can subscribe to. */
export const testAction = 'webhook.test';

/** The action that a webhook can limit to some elements. */
export const withdrawnAction = 'consent.withdrawn';

/** The actions whose receivers can acknowledge them. */
export const acknowledgedActions: readonly string[] = [withdrawnAction, 'subject.erased'];

export function canBeAcknowledged(action: string): boolean {
  return acknowledgedActions.includes(action);
}

const known: ReadonlySet<string> = new Set([...names, ...Object.keys(aliases)]);

/** Every name that `subscribedActions` accepts. */
export const actionNames: readonly string[] = [...known];

/** Actions that deliveries have. */
export const deliveredActions: readonly string[] = [...names, testAction];

export function isAction(name: string): boolean {
  return known.has(name);
}

/** The action of an event type `io.accord.<name>.v1`; undefined if webhooks do not deliver it. */
export function actionOf(type: string): string | undefined {
  const name = /^io\.accord\.([a-z.]+)\.v1$/.exec(type)?.[1];
  return name !== undefined && known.has(name) ? name : undefined;
}

/** The action that a name means; the name itself if it is no alias. */
export function meaningOf(name: string): string {
  return aliases[name] ?? name;
}

/** An action and its aliases. */
export function namesOf(action: string): string[] {
  return [action, ...Object.keys(aliases).filter((alias) => aliases[alias] === action)];
}
