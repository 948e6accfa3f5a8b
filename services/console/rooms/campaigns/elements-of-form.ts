import type { Context } from 'koa';
import { unlessMissing } from '../../api/api-failure.ts';
import { findVersion } from '../../models/read-model.ts';
import type { RoomTools } from '../../pages/tools.ts';

/** Keys of the elements that the ACTIVE version of a form asks; none if it has no such version. */
export async function elementsOf(ctx: Context, tools: RoomTools, key: string): Promise<string[]> {
  const found = await unlessMissing(tools.api(ctx).call('getModelByKey', { params: { key } }));
  const active = found && (await findVersion(ctx, tools, found.body, 'ACTIVE'));
  const content = active?.version.data[active.version.defaultLanguage] as { elements?: string[] } | undefined;
  return content?.elements ?? [];
}
