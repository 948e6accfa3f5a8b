import type { Caller } from './callers.ts';

/** A model with an ACTIVE version, made by an admin over HTTP. */
export interface LiveModel {
  id: string;
  key: string;
}

type Data = Record<string, Record<string, unknown>>;

/**
 * Has an admin make a model and activate its first version. @param data content by language, the default one
 * first.
 */
export async function makeLiveModel(admin: Caller, type: string, data: Data): Promise<LiveModel> {
  const made = await send<LiveModel>(admin, 'POST', '/models', { type, name: `A ${type}` });
  await activateContent(admin, made, data);
  return made;
}

/** Has an admin activate new content of a model. @returns the id of the version. */
export async function activateContent(
  admin: Caller,
  { id }: LiveModel,
  data: Data,
  kind: 'MAJOR' | 'MINOR' = 'MINOR',
): Promise<string> {
  const draft = { defaultLanguage: Object.keys(data)[0], data };
  const version = await send<{ id: string }>(admin, 'POST', `/models/${id}/versions`, draft);
  await send(admin, 'PUT', `/models/${id}/versions/${version.id}/type`, { type: kind });
  await send(admin, 'PUT', `/models/${id}/versions/${version.id}/status`, { status: 'ACTIVE' });
  return version.id;
}

/** Has an admin withdraw what is active of a model. */
export async function withdrawModel(admin: Caller, { id }: LiveModel): Promise<void> {
  const { versions } = (await (await admin.get(`/models/${id}`)).json()) as {
    versions: { id: string; status: string }[];
  };
  const active = versions.find(({ status }) => status === 'ACTIVE')?.id;
  await send(admin, 'PUT', `/models/${id}/versions/${active}/status`, { status: 'ARCHIVED' });
}

async function send<Answer>(
  admin: Caller,
  method: 'POST' | 'PUT',
  path: string,
  body: unknown,
): Promise<Answer> {
  const response = await admin.send(method, path, body);
  if (!response.ok)
    throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}
