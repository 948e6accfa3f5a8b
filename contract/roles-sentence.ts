/** The reaches of `x-roles`, in the order in which a sentence names them. */
const reaches = [
  ['any', (roles: string) => roles],
  ['read', (roles: string) => `${roles} (without changes and tokens)`],
  ['own', (roles: string) => `${roles} (only what is their own)`],
] as const;

/**
 * The last sentence of the description of an operation, which generated clients show, unlike `x-roles` and
 * `x-fresh`. @param fresh seconds since the sign-in.
 */
export function rolesSentence(roles: Readonly<Record<string, string>>, fresh?: number): string {
  if (roles.anonymous) return 'Roles: everyone, without credentials.';
  const parts = reaches.flatMap(([reach, say]) => {
    const named = Object.keys(roles).filter((role) => roles[role] === reach);
    return named.length > 0 ? [say(named.join(', '))] : [];
  });
  const signIn = fresh === undefined ? '' : `, within ${fresh / 60} minutes of a person's sign-in`;
  return `Roles: ${parts.join('; ')}${signIn}.`;
}
