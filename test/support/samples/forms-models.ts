import type { FormsAnswer, FormsService } from '../instances/forms-service.ts';

/** Valid content of each type in English, to change one thing of. */
export const sampleContent = {
  information: { title: 'Who asks' },
  processing: { title: 'Letter', data: 'Name', retention: { label: 'a year' }, usage: 'News' },
  preference: { label: 'How often', options: ['Daily', 'Weekly', 'Never'], valueType: 'RADIO_BUTTONS' },
  conditions: { title: 'Terms', body: '<p>Be kind.</p>' },
  email: { subject: 'Hello', body: '<p>Hello</p>' },
  theme: { name: 'Plain' },
} as const;

export type SampleType = keyof typeof sampleContent;

interface Made {
  id: string;
  key: string;
  version: string;
}

/** Makes an entry. @returns what the service answers. */
export async function makeModel(
  { send }: Pick<FormsService, 'send'>,
  json: Record<string, unknown>,
): Promise<FormsAnswer> {
  const response = await send('/models', { method: 'POST', json: { name: 'A model', ...json } });
  if (response.status !== 201) throw new Error(`the model was not made: ${await response.text()}`);
  return response.json();
}

/** Adds a draft to an entry. @returns its id. */
export async function makeDraft(
  { send }: Pick<FormsService, 'send'>,
  id: string,
  data: Record<string, unknown>,
  type: 'MAJOR' | 'MINOR' = 'MINOR',
): Promise<string> {
  const json = { defaultLanguage: Object.keys(data)[0], data };
  const response = await send(`/models/${id}/versions`, { method: 'POST', json });
  if (response.status !== 201) throw new Error(`the draft was not made: ${await response.text()}`);
  const { id: version } = await response.json();
  if (type === 'MAJOR')
    await send(`/models/${id}/versions/${version}/type`, { method: 'PUT', json: { type } });
  return version;
}

/** Moves a version. */
export function setStatus({ send }: Pick<FormsService, 'send'>, id: string, version: string, status: string) {
  return send(`/models/${id}/versions/${version}/status`, { method: 'PUT', json: { status } });
}

/** Makes an entry with an ACTIVE version. */
export async function makeActive(
  service: Pick<FormsService, 'send'>,
  type: SampleType | 'layout',
  content: Record<string, unknown>,
  key?: string,
): Promise<Made> {
  const entry = await makeModel(service, { type, ...(key && { key }) });
  const version = await makeDraft(service, entry.id, { en: content });
  const response = await setStatus(service, entry.id, version, 'ACTIVE');
  if (response.status !== 200) throw new Error(`the version was not activated: ${await response.text()}`);
  return { id: entry.id, key: entry.key, version };
}
