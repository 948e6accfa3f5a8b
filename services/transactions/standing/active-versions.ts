import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';

/** The ACTIVE versions of the elements and informations of records. */
export async function readActiveVersions(
  forms: Pick<FormsOperations, 'activeVersions'>,
  records: readonly { key: string; infoKey: string }[],
): Promise<ActiveVersions> {
  const keys = new Set(records.flatMap(({ key, infoKey }) => [key, infoKey]));
  return keys.size > 0 ? forms.activeVersions({ keys: [...keys] }) : {};
}
