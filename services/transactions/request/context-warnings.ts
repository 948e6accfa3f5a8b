import type { Fault } from '#lib/errors/fail.ts';
import { boundedPointer, escapePointer } from '#lib/json/pointer.ts';
import { configurationFields, topFields } from './parse-context.ts';

/** Fields of `layoutData`, which forms reads. */
const layoutFields = [
  ...['type', 'info', 'elements', 'blocs', 'orientation', 'theme', 'notification', 'validityVisible'],
  ...[
    'existingElementsVisible',
    'acceptAllVisible',
    'acceptAllText',
    'refuseAllText',
    'submitText',
    'cancelVisible',
  ],
  ...['cancelText', 'footerOnTop', 'includeIFrameResizer'],
];

/** Fields that existing clients send with every context; ignoring them has no effect. */
const harmlessFields = ['transaction', 'leadingTransaction', 'peerContexts'];

const knownFields: Record<'context' | 'configuration' | 'layoutData', ReadonlySet<string>> = {
  context: new Set([...topFields, 'configuration', 'userinfos', ...configurationFields, ...harmlessFields]),
  configuration: new Set(['userinfos', ...configurationFields, ...harmlessFields]),
  layoutData: new Set(layoutFields),
};

const searchMembers = new Set(['subject', 'states', 'kind', 'after', 'before', 'page', 'size']);

const maxWarnings = 20;

/** Warnings about unknown fields of a context, such as misspelt ones. Empty texts count as absent. */
export function unknownFields(body: Record<string, unknown>): Fault[] {
  const parts = [
    ['context', '', body],
    ['configuration', '/configuration', body.configuration],
    ['layoutData', '/layoutData', body.layoutData],
  ] as const;
  return parts
    .flatMap(([part, prefix, given]) =>
      typeof given === 'object' && given !== null ? unknownIn(given, knownFields[part], prefix) : [],
    )
    .slice(0, maxWarnings);
}

/** Warnings about members of a search, without which it finds more. */
export function unknownSearchMembers(body: object): Fault[] {
  return unknownIn(body, searchMembers).slice(0, maxWarnings);
}

function unknownIn(given: object, known: ReadonlySet<string>, prefix = ''): Fault[] {
  return Object.entries(given).flatMap(([name, value]) =>
    known.has(name) || value === '' || value === null ? [] : [unknownField(prefix, name)],
  );
}

function unknownField(prefix: string, name: string): Fault {
  const pointer = boundedPointer(`${prefix}/${escapePointer(name)}`);
  const detail =
    pointer === prefix ? 'has an unknown field, which was ignored' : 'is unknown and was ignored';
  return { pointer, code: 'unknown-field', detail };
}
