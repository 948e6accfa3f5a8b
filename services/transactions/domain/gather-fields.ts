import type { Fault } from '#lib/errors/fail.ts';
import type { Given } from './context.ts';

const configurationFields = [
  'language', 'origin', 'author', 'object', 'validity', 'callback', 'callbackTriggerDelay', 'iframeOrigin', 'confirmation',
  'confirmationConfig', 'subjectInfos', 'attributes', 'updatable', 'cancellable', 'silent', 'theme', 'notification',
  'sendInvitation', 'peerCommit', 'timeout',
] as const; // biome-ignore format: one glance

export type ContextField = 'subject' | 'layout' | 'layoutData' | (typeof configurationFields)[number];

/**
 * Gathers a context's fields from the top level and from `configuration` (decisions.md §2). Empty texts count as absent, in maps too;
 * `userinfos` is another name of `subjectInfos`; unknown fields are ignored.
 */
export function gatherFields(body: Record<string, unknown>): {
  fields: Map<ContextField, Given>;
  faults: Fault[];
} {
  const fields = new Map<ContextField, Given>();
  const faults: Fault[] = [];
  const add = (name: ContextField, raw: unknown, pointer: string) => {
    const value = withoutEmpty(raw, name === 'layoutData');
    if (value === undefined) return;
    const known = fields.get(name);
    if (known && JSON.stringify(known.value) !== JSON.stringify(value))
      faults.push({
        pointer,
        code: 'conflict',
        detail: `is given twice with different values, here and at ${known.pointer}`,
      });
    else if (!known) fields.set(name, { value, pointer });
  };
  for (const name of ['subject', 'layout', 'layoutData'] as const) add(name, body[name], `/${name}`);
  const configuration = (body.configuration ?? {}) as Record<string, unknown>;
  for (const [source, prefix] of [
    [body, ''],
    [configuration, '/configuration'],
  ] as const) {
    for (const name of configurationFields) add(name, source[name], `${prefix}/${name}`);
    add('subjectInfos', source.userinfos, `${prefix}/userinfos`);
  }
  return { fields, faults };
}

function withoutEmpty(value: unknown, deep: boolean): unknown {
  if (value === '' || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value) || deep) return value;
  const kept = Object.entries(value as object).filter(([, member]) => member !== '' && member !== null);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
