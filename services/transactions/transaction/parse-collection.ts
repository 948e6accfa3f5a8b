import { Temporal } from 'temporal-polyfill';
import type { Fault } from '#lib/errors/fail.ts';
import { type Collection, collectionWays } from './context.ts';
import { type Given, invalid, isFault, parseText } from './values.ts';

type Member = (value: unknown, pointer: string) => unknown | Fault;

const members: Readonly<Record<keyof Collection, Member>> = {
  way: (value, pointer) =>
    collectionWays.some((each) => each === value)
      ? value
      : invalid(pointer, `must be one of ${collectionWays.join(', ')}`),
  givenOn: parseDay,
  reference: (value, pointer) => parseText({ value, pointer }, 255),
  document: (value, pointer) =>
    /^[0-9a-f]{64}$/.test(String(value))
      ? value
      : invalid(pointer, 'must be a SHA-256 in 64 lower-case hexadecimal digits'),
};

/**
 * How answers were given (openapi.yaml, `CollectionDetails`). Empty members count as absent.
 * @returns the first fault of a member that is not valid.
 */
export function parseCollection({ value, pointer }: Given): Collection | Fault {
  const given = value as Record<string, unknown>;
  const read: Record<string, unknown> = {};
  if (!given.way) return { pointer: `${pointer}/way`, code: 'required', detail: 'must be set' };
  for (const [name, parse] of Object.entries(members)) {
    if (given[name] === undefined) continue;
    const parsed = parse(given[name], `${pointer}/${name}`);
    if (isFault(parsed)) return parsed;
    read[name] = parsed;
  }
  return { way: 'OTHER', ...read };
}

/** A day that has begun somewhere on earth, and is not more than a hundred years ago. */
function parseDay(value: unknown, pointer: string): string | Fault {
  const today = Temporal.Now.plainDateISO('UTC');
  const isWritten = /^\d{4}-\d\d-\d\d$/.test(String(value));
  let day: Temporal.PlainDate | undefined;
  try {
    if (isWritten) day = Temporal.PlainDate.from(String(value), { overflow: 'reject' });
  } catch {
    // A day that is in no calendar, such as 30 February.
  }
  if (!day) return invalid(pointer, 'must be a day such as 2026-03-12');
  if (Temporal.PlainDate.compare(day, today.add({ days: 1 })) > 0)
    return invalid(pointer, 'must not be in the future');
  if (Temporal.PlainDate.compare(day, today.subtract({ years: 100 })) < 0)
    return invalid(pointer, 'must be in the last hundred years');
  return day.toString();
}
