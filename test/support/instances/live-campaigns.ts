import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { until } from '../run/until.ts';
import { sampleContent } from '../samples/forms-models.ts';
import type { Caller } from './callers.ts';
import { activateContent, makeLiveModel } from './live-models.ts';
import { recordAnswers } from './live-transactions.ts';

type Schemas = components['schemas'];
export type LiveCampaign = Schemas['Campaign'];

/** An element of its own, with people who have answered it, and a form in a context. */
export interface AskedElement {
  key: string;
  context: { layoutData: { elements: string[] } } | { layout: string };
  /** Activates a MAJOR, so that who has answered is asked again. */
  change(): Promise<unknown>;
  /** Deletes the element, which archives an element with answers. */
  remove(): Promise<Response>;
  /** Has somebody answer. @returns the name, which is also the e-mail address. */
  answered(answer?: 'accepted' | 'refused', more?: Answered): Promise<string>;
}

interface Answered {
  name?: string;
  context?: Record<string, unknown>;
  serial?: string;
  /** Null: none is known. */
  address?: string | null;
}

const content = { en: sampleContent.processing };

export async function makeAskedElement(admin: Caller): Promise<AskedElement> {
  const model = await makeLiveModel(admin, 'processing', content);
  const { key } = model;
  return {
    key,
    context: { layoutData: { elements: [key] } },
    change: () => activateContent(admin, model, content, 'MAJOR'),
    remove: () => admin.send('DELETE', `/models/${model.id}`),
    async answered(answer = 'accepted', { name, address, context, serial = '1.0' } = {}) {
      const subject = name ?? `${randomUUID()}@example.org`;
      const emailAddress = address === undefined ? subject : address;
      await recordAnswers(
        admin,
        subject,
        { [`element/processing/${key}/${serial}`]: [answer] },
        { ...(emailAddress !== null && { subjectInfos: { emailAddress } }), ...context },
      );
      return subject;
    },
  };
}

/** Drafts a campaign about an element. @returns its id. */
export async function draftCampaign(
  caller: Caller,
  { key, context }: Pick<AskedElement, 'key' | 'context'>,
  { select, ...more }: Partial<Omit<Schemas['CampaignInput'], 'select'>> & { select?: object } = {},
): Promise<string> {
  const response = await caller.send('POST', '/campaigns', {
    name: 'Asked again',
    select: { elements: [key], who: ['CHANGED'], ...select },
    context,
    perMinute: 6_000,
    ...more,
  });
  if (response.status !== 201) throw new Error(`the campaign was not drafted: ${await response.text()}`);
  return ((await response.json()) as LiveCampaign).id;
}

export const setCampaign = (caller: Caller, id: string, status: 'RUNNING' | 'PAUSED' | 'CANCELLED') =>
  caller.send('PUT', `/campaigns/${id}/status`, { status });

export async function readCampaign(caller: Caller, id: string): Promise<LiveCampaign> {
  return (await (await caller.get(`/campaigns/${id}`)).json()) as LiveCampaign;
}

export async function membersOf(caller: Caller, id: string): Promise<Schemas['CampaignMember'][]> {
  return (await (
    await caller.get(`/campaigns/${id}/members?limit=200`)
  ).json()) as Schemas['CampaignMember'][];
}

export async function forecastOf(caller: Caller, id: string): Promise<Schemas['CampaignForecast']> {
  return (await (await caller.get(`/campaigns/${id}/forecast`)).json()) as Schemas['CampaignForecast'];
}

/** Waits until a campaign has these counts; states that are not named do not matter. */
export function untilCounts(
  caller: Caller,
  id: string,
  counts: Partial<LiveCampaign['counts']>,
): Promise<void> {
  return until(async () => expect((await readCampaign(caller, id)).counts).toMatchObject(counts));
}
