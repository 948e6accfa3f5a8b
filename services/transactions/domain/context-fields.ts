import type { Fault } from '#lib/errors/fail.ts';
import { escapePointer } from '#lib/json/check-json.ts';
import type { Given } from './context.ts';

const configurationFields = [
  'language',
  'origin',
  'author',
  'object',
  'validity',
  'callback',
  'callbackTriggerDelay',
  'iframeOrigin',
  'confirmation',
  'confirmationConfig',
  'subjectInfos',
  'attributes',
  'updatable',
  'cancellable',
  'silent',
  'theme',
  'notification',
  'sendInvitation',
  'peerCommit',
  'timeout',
] as const;

/** Fields of `layoutData`, which forms reads. */
const layoutFields = [
  'type',
  'info',
  'elements',
  'blocs',
  'orientation',
  'theme',
  'notification',
  'existingElementsVisible',
  'validityVisible',
  'acceptAllVisible',
  'acceptAllText',
  'submitText',
  'cancelVisible',
  'cancelText',
  'footerOnTop',
  'includeIFrameResizer',
] as const;

/** Fields that existing clients send with every context; ignoring them has no effect. */
const harmlessFields = ['transaction', 'leadingTransaction', 'peerContexts', 'notificationRecipient'];

const knownFields: Record<'context' | 'configuration' | 'layoutData', ReadonlySet<string>> = {
  context: new Set([
    ...['subject', 'layout', 'layoutData', 'configuration', 'userinfos'],
    ...configurationFields,
    ...harmlessFields,
  ]),
  configuration: new Set([...configurationFields, 'userinfos', ...harmlessFields]),
  layoutData: new Set(layoutFields),
};

const maxWarnings = 20;
const maxNameLength = 100;

/** Warnings about unknown fields of a context, such as misspelt ones. Empty texts count as absent. */
export function unknownFields(body: Record<string, unknown>): Fault[] {
  const parts = [
    ['context', '', body],
    ['configuration', '/configuration', body.configuration],
    ['layoutData', '/layoutData', body.layoutData],
  ] as const;
  return parts
    .flatMap(([part, prefix, given]) =>
      typeof given === 'object' && given !== null
        ? Object.entries(given).flatMap(([name, value]) =>
            knownFields[part].has(name) || value === '' || value === null ? [] : [unknownField(prefix, name)],
          )
        : [],
    )
    .slice(0, maxWarnings);
}

function unknownField(prefix: string, name: string): Fault {
  const shown = escapePointer(name.slice(0, maxNameLength).toWellFormed());
  return {
    pointer: `${prefix}/${shown}`,
    code: 'unknown-field',
    detail: 'is unknown and was ignored',
  };
}

export type ContextField = 'subject' | 'layout' | 'layoutData' | (typeof configurationFields)[number];

/**
 * Collects the fields of a context from its top level and from `configuration`. Empty texts count as absent,
 * in maps too; `userinfos` is another name of `subjectInfos`; unknown fields are ignored.
 */
export function collectFields(body: Record<string, unknown>): {
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
        detail: `has another value at ${known.pointer}`,
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
