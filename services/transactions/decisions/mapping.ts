/** A value that a mapping compares. */
type Scalar = string | number | boolean;

/** What an evaluation of AuthZEN asks about, in the words of a gateway (docs/decisions-api.md, "AuthZEN"). */
export interface AccessMapping {
  /** Absent: any. */
  subjectType?: string;
  action?: string;
  resourceType?: string;
  /** Values that must be equal, by their place in the evaluation. */
  when?: Record<string, Scalar>;
  element?: string;
  purpose?: string;
  /** Place of the object of the question; absent: none. */
  object?: string;
  /** Context of the form for what has no answer, without a subject. */
  capture?: Record<string, unknown>;
}

/** The members of an evaluation that mappings look at. */
export interface AskedAccess {
  subject: { type: string; id: string; properties?: unknown };
  action: { name: string; properties?: unknown };
  resource: { type: string; id: string; properties?: unknown };
}

/** What a mapping makes of an evaluation; undefined: the object that it names is missing. */
export type MappedQuestion = { element?: string; purpose?: string; object?: string } | undefined;

type Entity = keyof AskedAccess;

/** A place such as `resource.id` or `action.properties.method`, whose name may contain dots. */
interface Place {
  entity: Entity;
  /** Undefined: the id. */
  property: string | undefined;
}

const places: readonly [prefix: string, entity: Entity][] = [
  ['subject.properties.', 'subject'],
  ['action.properties.', 'action'],
  ['resource.properties.', 'resource'],
];

/** Reads a place that `when` may compare. @returns undefined for a text that names none. */
export function readPlace(text: string): Place | undefined {
  if (text === 'subject.id') return { entity: 'subject', property: undefined };
  if (text === 'resource.id') return { entity: 'resource', property: undefined };
  const found = places.find(([prefix]) => text.startsWith(prefix) && text.length > prefix.length);
  return found && { entity: found[1], property: text.slice(found[0].length) };
}

/** Whether a text names a place that can hold the object of a question. */
export function isObjectPlace(text: string): boolean {
  return readPlace(text)?.entity === 'resource';
}

/** Whether a value is one that `when` can compare. */
export function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** The first mapping that fits an evaluation. */
export function firstFitting(
  mappings: readonly AccessMapping[],
  asked: AskedAccess,
): AccessMapping | undefined {
  return mappings.find((mapping) => fits(mapping, asked));
}

function fits({ subjectType, action, resourceType, when = {} }: AccessMapping, asked: AskedAccess): boolean {
  if (subjectType !== undefined && subjectType !== asked.subject.type) return false;
  if (action !== undefined && action !== asked.action.name) return false;
  if (resourceType !== undefined && resourceType !== asked.resource.type) return false;
  return Object.entries(when).every(([place, value]) => valueAt(asked, place) === value);
}

/** What the mapping of an evaluation asks. */
export function questionOf({ element, purpose, object }: AccessMapping, asked: AskedAccess): MappedQuestion {
  const about = purpose === undefined ? { element } : { purpose };
  if (object === undefined) return about;
  const value = valueAt(asked, object);
  // Without its object a question would be about another answer, or about all.
  if (value === '' || (typeof value !== 'string' && typeof value !== 'number')) return undefined;
  return { ...about, object: String(value) };
}

function valueAt(asked: AskedAccess, text: string): unknown {
  const place = readPlace(text);
  if (!place) return undefined;
  const entity: { id?: string; properties?: unknown } = asked[place.entity];
  if (place.property === undefined) return entity.id;
  const { properties } = entity;
  if (typeof properties !== 'object' || properties === null) return undefined;
  // Callers choose the names, and `constructor` is in every object.
  return Object.hasOwn(properties, place.property)
    ? (properties as Record<string, unknown>)[place.property]
    : undefined;
}
