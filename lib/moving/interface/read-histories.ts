import { modelTypes } from '#lib/evidence/signed-page.ts';
import type { Schemas } from '#lib/models/models-api.ts';
import type { ModelHistory } from '#lib/moving/bring-models.ts';
import type { InstanceClient } from '#lib/moving/instance-client.ts';
import { leaveOut, type NotCarried, noteMembers } from '#lib/moving/not-carried.ts';

const pageSize = 200;

/** Members that are carried, or that follow from those. */
const ofEntry = [
  ...['id', 'key', 'type', 'name', 'description', 'status', 'default', 'versions', 'shared'],
  ...['availableLanguages', 'defaultLanguage', 'creationDate', 'modificationDate'],
];
const ofVersion = [
  ...['id', 'serial', 'status', 'type', 'reason', 'defaultLanguage', 'availableLanguages', 'data'],
  ...['creationDate', 'modificationDate'],
];

/** The models of an instance, deleted ones among them: by type in the order of `modelTypes`, and by key. */
export async function* readHistories(
  source: InstanceClient,
  notCarried: NotCarried,
): AsyncGenerator<ModelHistory> {
  for (const type of modelTypes) {
    for (const entry of await readEntries(source, type)) {
      const versions: Schemas['Version'][] = [];
      for await (const version of source.list<Schemas['Version']>(`/models/${entry.id}/versions?limit=200`)) {
        noteMembers(notCarried, 'version', version, ofVersion);
        versions.push(version);
      }
      const { key, name, description, default: isDefault = false } = entry;
      const { sharedWith, ...rest } = entry;
      noteMembers(notCarried, 'model', sharedWith?.length > 0 ? entry : rest, ofEntry);
      const activated = versions.flatMap((version) =>
        version.serial === undefined ? [] : [{ ...version, serial: version.serial }],
      );
      if (activated.length < versions.length) leaveOut(notCarried, 'drafts of models');
      if (entry.status === 'DELETED') leaveOut(notCarried, 'deletions of models, which are INACTIVE here');
      activated.sort(bySerial);
      yield { key, type, name, description, default: isDefault, versions: activated };
    }
  }
}

/** The entries of a type, by key. */
async function readEntries(source: InstanceClient, type: string): Promise<Schemas['Entry'][]> {
  const statuses = 'statuses=ACTIVE&statuses=INACTIVE&statuses=DELETED';
  const entries: Schemas['Entry'][] = [];
  for (let page = 0, pages = 1; page < pages; page += 1) {
    const query = `types=${type}&${statuses}&page=${page}&size=${pageSize}`;
    const found: Schemas['EntryPage'] = await source.read(`/models?${query}`);
    entries.push(...found.values);
    pages = found.totalPages;
  }
  return entries.sort((one, other) => (one.key < other.key ? -1 : 1));
}

function bySerial(one: { serial: string }, other: { serial: string }): number {
  const [major = 0, minor = 0] = one.serial.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.serial.split('.').map(Number);
  return major - otherMajor || minor - otherMinor;
}
