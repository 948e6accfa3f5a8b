/** A line as the API shows it. */
export interface ShownLine {
  id: string;
  at: string;
  actor: string;
  actorKind: string;
  action: string;
  target: string;
  request?: string;
}

/** Someone who reads lists with GET. */
type Get = (path: string) => Promise<Response>;

/** A page of the audit log. @param query with the question mark. */
export async function readAudit(
  get: Get,
  area: string,
  query = '',
): Promise<{ values: ShownLine[]; next?: string }> {
  const response = await get(`/audit/${area}${query}`);
  if (response.status !== 200) throw new Error(`no audit log of ${area}: ${await response.text()}`);
  return (await response.json()) as { values: ShownLine[]; next?: string };
}

/** Lines without what differs each time, oldest first: `<actorKind> <actor>: <action> <target>`. */
export function sentencesOf(lines: readonly ShownLine[]): string[] {
  return lines
    .map(({ actorKind, actor, action, target }) => `${actorKind} ${actor}: ${action} ${target}`)
    .reverse();
}
