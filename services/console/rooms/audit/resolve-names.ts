import type { ApiClient } from '../../api/api-client.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { AuditLine } from './merge-areas.ts';

/** The name of a thing that the audit log knows by its id, and its page. */
export interface Named {
  name: string;
  href?: string;
}

/**
 * Reads the names of the actors and targets of lines: the audit log has ids only. Things that no longer exist
 * have none. The names of subjects are not read, because that would be recorded as a read of their data.
 * @returns by `<kind>/<id>`.
 */
export async function resolveNames(
  api: ApiClient,
  lines: readonly AuditLine[],
): Promise<ReadonlyMap<string, Named>> {
  const named = lines.flatMap(({ actorKind, actor, target }) => [`${actorKind}/${actor}`, target]);
  const idsOf = (kind: string) => [
    ...new Set(
      named.filter((each) => each.startsWith(`${kind}/`)).map((each) => each.slice(kind.length + 1)),
    ),
  ];
  const read = async (kind: string, list: () => Promise<(Named & { id: string })[]>) => {
    if (idsOf(kind).length === 0) return [];
    const found = await list().catch(ignoreFailure);
    return found.map(({ id, ...rest }) => [`${kind}/${id}`, rest] as const);
  };
  const all = await Promise.all([
    read('account', async () => {
      const { body } = await api.call('listAccounts', { query: { limit: maxListed } });
      return body.map(({ id, name }) => ({ id, name, href: `/console/settings/accounts/${id}` }));
    }),
    read('key', async () => {
      const { body } = await api.call('listKeys', { query: { limit: maxListed } });
      return body.map(({ id, name }) => ({ id, name, href: '/console/integration/security' }));
    }),
    read('peer', async () => {
      const { body } = await api.call('listPeers', { query: { limit: maxListed } });
      return body.map(({ id, name }) => ({ id, name, href: `/console/integration/peers/${id}` }));
    }),
    read('webhook', async () => {
      const { body } = await api.call('listWebhooks', { query: { limit: maxListed } });
      return body.map(({ id, name }) => ({ id, name, href: `/console/integration/webhooks/${id}` }));
    }),
    read('model', async () => {
      const found = await Promise.all(idsOf('model').map((id) => readModel(api, id)));
      return found.flat();
    }),
  ]);
  return new Map(all.flat());
}

/** The longest page of the API; the names of others are not shown. */
const maxListed = 200;

async function readModel(api: ApiClient, id: string): Promise<(Named & { id: string })[]> {
  try {
    const { body } = await api.call('getModel', { params: { id } });
    const room = body.type === 'layout' ? 'forms' : 'elements';
    return [{ id, name: body.name, href: `/console/${room}/${id}` }];
  } catch (error) {
    return ignoreFailure(error);
  }
}

/** Without a name the id is shown. @throws errors that the API did not answer. */
function ignoreFailure(error: unknown): [] {
  if (error instanceof ApiFailure) return [];
  throw error;
}
