import type { ApiClient } from '../../api/api-client.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { subjectPath } from '../../people/subject-path.ts';
import type { AuditLine } from './merge-areas.ts';

/** The name of a thing that the audit log knows by its id, and its page. */
export interface Named {
  name: string;
  href?: string;
}

/**
 * Reads the names of the actors and targets of lines: the audit log has ids only. Things that no longer exist
 * have none.
 * @param persons whether names of persons are read, which is recorded as a list of persons that was read.
 * @returns by `<kind>/<id>`.
 */
export async function resolveNames(
  api: ApiClient,
  lines: readonly AuditLine[],
  persons: false | Pick<RoomTools, 'names'>,
): Promise<ReadonlyMap<string, Named>> {
  const named = lines.flatMap(({ actorKind, actor, target }) => [`${actorKind}/${actor}`, target]);
  const idsOf = (kind: string) => [
    ...new Set(
      named.filter((each) => each.startsWith(`${kind}/`)).map((each) => each.slice(kind.length + 1)),
    ),
  ];
  const ofLists = listedKinds.map(async ({ kind, operation, hrefOf }) => {
    if (idsOf(kind).length === 0) return [];
    const listed = await api.list(operation, { page: { limit: maxListed } }).catch(ignoreFailure);
    return (listed?.rows ?? []).map(({ id, name }) => [`${kind}/${id}`, { name, href: hrefOf(id) }] as const);
  });
  const ofModels = idsOf('model').map(async (id) => {
    const found = await api.call('getModel', { params: { id } }).catch(ignoreFailure);
    if (!found) return [];
    const { type, key, name, status } = found.body;
    const href = `/console/${type === 'layout' ? 'forms' : 'elements'}/${encodeURIComponent(key)}`;
    return [[`model/${id}`, status === 'DELETED' ? { name } : { name, href }] as const];
  });
  const ofPersons = persons ? readPersons(api, idsOf('subject'), persons) : [];
  return new Map((await Promise.all([...ofLists, ...ofModels, ofPersons])).flat());
}

async function readPersons(api: ApiClient, ids: readonly string[], tools: Pick<RoomTools, 'names'>) {
  const wanted = ids.filter((id) => id !== 'all');
  if (wanted.length === 0) return [];
  const listed = await api
    .list('listSubjects', { query: { ids: wanted }, page: { limit: maxListed } })
    .catch(ignoreFailure);
  return (listed?.rows ?? []).map(
    ({ id, name }) => [`subject/${id}`, { name, href: subjectPath(tools, name) }] as const,
  );
}

/** Things that the API lists, by the kind of their lines. */
export const listedKinds = [
  { kind: 'account', operation: 'listAccounts', hrefOf: (id: string) => `/console/settings/accounts/${id}` },
  { kind: 'key', operation: 'listKeys', hrefOf: () => '/console/integration/security' },
  { kind: 'campaign', operation: 'listCampaigns', hrefOf: (id: string) => `/console/campaigns/${id}` },
  { kind: 'peer', operation: 'listPeers', hrefOf: (id: string) => `/console/integration/peers/${id}` },
  {
    kind: 'webhook',
    operation: 'listWebhooks',
    hrefOf: (id: string) => `/console/integration/webhooks/${id}`,
  },
] as const;

/** The longest page of the API; the names of others are not shown. */
const maxListed = 200;

/** Without a name the id is shown. @throws errors that the API did not answer. */
function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof ApiFailure)) throw error;
}
