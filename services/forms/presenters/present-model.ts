import type { components } from '#lib/contracts/openapi.gen.ts';
import { formatIdentifier, formatReference, formatSerial } from '../domain/identifiers.ts';
import type { Entry, Version, VersionSummary } from '../domain/model.ts';
import { isStale, ownerName } from '../domain/peer-entry.ts';
import type { CatalogueCopy } from '../queries/peer-catalogues.ts';

type Schemas = components['schemas'];

/**
 * An entry with its versions, newest first (docs/interface.md, "Models"). Its languages are those of its
 * current version.
 */
export function presentEntry(entry: Entry, versions: readonly VersionSummary[]): Schemas['Entry'] {
  const main = versions.find(({ status }) => status === 'ACTIVE') ?? versions[0];
  return {
    id: entry.id,
    key: entry.key,
    type: entry.type,
    name: entry.name,
    ...(entry.description !== null && { description: entry.description }),
    shared: entry.shared,
    sharedWith: entry.sharedWith,
    status: entry.status,
    default: entry.isDefault,
    availableLanguages: main?.languages ?? [],
    ...(main && { defaultLanguage: main.defaultLanguage }),
    creationDate: entry.createdAt.getTime(),
    modificationDate: entry.modifiedAt.getTime(),
    versions: versions.map(presentSummary),
  };
}

function presentSummary(version: VersionSummary): Schemas['VersionSummary'] {
  const { id, status, kind, reason, major, minor, defaultLanguage, languages } = version;
  return {
    id,
    ...(major !== null && minor !== null && { serial: formatSerial({ major, minor }) }),
    status,
    type: kind,
    ...(reason !== null && { reason }),
    defaultLanguage,
    availableLanguages: languages,
    creationDate: version.createdAt.getTime(),
    modificationDate: version.modifiedAt.getTime(),
  };
}

/** A version with its content. */
export function presentVersion({ data, ...version }: Version): Schemas['Version'] {
  const summary = presentSummary({ ...version, languages: Object.keys(data).sort() });
  return { ...summary, data: data as Schemas['Version']['data'] };
}

/** An export, as another instance imports it (`POST /models/import`). */
export function presentExport(entry: Entry, versions: readonly Version[]): Schemas['EntryExport'] {
  const { key, type, name, description, shared } = entry;
  return {
    key,
    type,
    name,
    ...(description !== null && { description }),
    shared,
    versions: versions.map(presentVersion),
  };
}

/**
 * The copy of a peer's catalogue.
 * @param ownName INSTANCE_NAME. @param staleDays PEER_STALE_LIMIT.
 */
export function presentCatalogue(
  copy: CatalogueCopy,
  ownName: string,
  staleDays: number,
): Schemas['PeerModels']['values'][number] {
  const { id, url, host, asOf, elements } = copy;
  return {
    id,
    url,
    name: ownerName(copy, ownName),
    readDate: asOf.getTime(),
    stale: isStale(copy, staleDays),
    elements: elements.map(({ key, type, name, languages, ...serial }) => {
      const reference = formatReference({ key, host });
      return {
        reference,
        identifier: formatIdentifier(type, reference, formatSerial(serial)),
        type: type as 'processing',
        name,
        availableLanguages: languages,
      };
    }),
  };
}
