import type { Context } from 'koa';
import type { Entry, Version } from '../domain/model.ts';
import { entityTag } from '../domain/precondition.ts';
import { presentEntry, presentVersion } from '../presenters/present-model.ts';
import { readVersionSummaries } from '../queries/versions.ts';
import type { Dependencies } from './dependencies.ts';

/** Sends an entry with its versions and its tag. @param status 201 also sends its address. */
export async function sendModel(
  ctx: Context,
  { db, instance }: Pick<Dependencies, 'db' | 'instance'>,
  entry: Entry,
  status: 200 | 201 = 200,
): Promise<void> {
  ctx.body = presentEntry(entry, await readVersionSummaries(db, [entry.id]));
  ctx.status = status;
  ctx.set('ETag', entityTag(entry.revision));
  if (status === 201) ctx.set('Location', `${instance.baseUrl}/models/${entry.id}`);
}

/** Sends a version with its content and its tag. @param status 201 also sends its address. */
export function sendVersion(
  ctx: Context,
  { instance }: Pick<Dependencies, 'instance'>,
  version: Version,
  status: 200 | 201 = 200,
): void {
  ctx.body = presentVersion(version);
  ctx.status = status;
  ctx.set('ETag', entityTag(version.revision));
  if (status === 201) ctx.set('Location', versionUrl(instance.baseUrl, version.model, version.id));
}

export function versionUrl(baseUrl: string, model: string, version: string): string {
  return `${baseUrl}/models/${model}/versions/${version}`;
}

/** The If-Match of a request; an empty one counts as absent. */
export function ifMatchOf(ctx: Context): string | undefined {
  return ctx.get('if-match') || undefined;
}
