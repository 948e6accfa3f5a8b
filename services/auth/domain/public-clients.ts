/** Public clients that are always there (docs/operations.md, "Settings"): for scripts of existing integrations, and for tools on one's own machine. */
export const publicClients: readonly string[] = ['accord', 'cmclient'];

/** True for what can be the id of a client. */
export function isClientId(text: string): boolean {
  return /^[0-9A-Za-z._-]{1,64}$/.test(text);
}
