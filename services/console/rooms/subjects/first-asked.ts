import type { Context } from 'koa';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import { unlessMissing } from '../../api/api-failure.ts';
import type { Entry } from '../../models/read-model.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { listAskable } from './questions.ts';
import type { Asked } from './record-fields.ts';

/** Transactions among which the form is looked for that a person has at hand. */
const maxTransactions = 20;

/**
 * What a person most likely answers on paper: the form of the newest transaction, as far as it is active, or
 * the only form. @returns undefined if that is not clear.
 */
export async function firstAsked(ctx: Context, tools: RoomTools, name: string): Promise<Asked | undefined> {
  const body = { subject: name, size: maxTransactions };
  const [{ forms }, known, found] = await Promise.all([
    listAskable(ctx, tools),
    knownLanguage(ctx, tools, name),
    tools.api(ctx).call('searchTransactions', { body }),
  ]);
  const asked = found.body.values.map(({ context }) => context?.layout);
  const newest = asked.flatMap((layout) => forms.find(({ key }) => key === layout) ?? [])[0];
  const form = newest ?? (forms.length === 1 ? forms[0] : undefined);
  if (!form) return undefined;
  const wanted = [...known, tools.reader(ctx).language];
  return { form: form.key, elements: [], language: lookupLanguage(wanted, languagesOf([form])) ?? '' };
}

/** The language of a person as a list, which is empty if it is not known. */
export async function knownLanguage(ctx: Context, tools: RoomTools, name: string): Promise<string[]> {
  const subject = await unlessMissing(tools.api(ctx).call('getSubject', { params: { name } }));
  return subject?.body.defaultLanguage ? [subject.body.defaultLanguage] : [];
}

/** Languages in which some of the entries can be read out. */
export function languagesOf(entries: readonly Entry[]): string[] {
  const active = entries.flatMap(({ versions }) => versions.filter(({ status }) => status === 'ACTIVE'));
  return [...new Set(active.flatMap(({ availableLanguages }) => availableLanguages))].sort();
}
