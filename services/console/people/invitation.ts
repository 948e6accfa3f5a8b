import type { Context } from 'koa';
import type { ConsoleReader } from '../pages/console-reader.ts';
import { type FieldSpec, fieldsFor } from '../pages/form.ts';
import type { RoomTools } from '../pages/tools.ts';

/** By which ways this instance sends messages. */
export interface Channels {
  mail: boolean;
  sms: boolean;
}

export async function readChannels(ctx: Context, tools: RoomTools): Promise<Channels> {
  const { features } = (await tools.api(ctx).call('getSystemConfig')).body;
  return { mail: features.includes('mail'), sms: features.includes('sms') };
}

/** How a form reaches a person: by e-mail, by text message, or by a link that is passed on. */
export type Way = 'mail' | 'sms' | 'link';

/** The ways that are possible. */
export function waysOf({ mail, sms }: Channels): Way[] {
  return [...(mail ? (['mail'] as const) : []), ...(sms ? (['sms'] as const) : []), 'link'];
}

/** The way that is chosen at first: one for which the person has an address, else the first. */
export function firstWay(
  sends: Channels,
  { emailAddress, phoneNumber }: { emailAddress?: string | undefined; phoneNumber?: string | undefined },
): Way {
  const known = { mail: emailAddress, sms: phoneNumber, link: undefined };
  const ways = waysOf(sends);
  return ways.find((way) => known[way]) ?? ways[0] ?? 'link';
}

/** The number to which a text message is sent. */
export function numberField(reader: ConsoleReader): FieldSpec {
  const name = 'phoneNumber';
  const pointer = [`/${name}`, `/subjectInfos/${name}`];
  return fieldsFor(reader, 'invite')(name, { kind: 'tel', pointer, isNeeded: true });
}
