import type { OperationId } from '../api/api-types.ts';
import type { Room } from '../rooms/room.ts';
import type { ConsoleReader } from './console-reader.ts';

/** Path of the console. */
export const consolePath = '/console';

/** A link of the navigation. */
export interface NavigationLink {
  href: string;
  word: string;
  isCurrent: boolean;
}

/**
 * Whether a link of a page leads to a room that the person may open. What one room shows may have links to
 * another, whose rights differ.
 */
export function opensLink(
  rooms: readonly Room[],
  may: (operation: OperationId) => boolean,
): (href: string | undefined) => boolean {
  return (href) => {
    if (!href?.startsWith(`${consolePath}/`)) return href !== undefined;
    const below = href.slice(consolePath.length);
    const room = rooms.find(
      ({ path }) =>
        path !== '' &&
        (below === path || (/^[/?#]/.test(below.slice(path.length)) && below.startsWith(path))),
    );
    return room === undefined || may(room.reads);
  };
}

/**
 * The rooms that a person may open, without those whose feature the instance lacks.
 * @param features undefined if the API does not tell: then every room is shown.
 */
export function navigation({
  rooms,
  current,
  may,
  features,
  reader,
}: {
  rooms: readonly Room[];
  current: Room;
  may(operation: OperationId): boolean;
  features: readonly string[] | undefined;
  reader: ConsoleReader;
}): NavigationLink[] {
  return rooms
    .filter(({ reads }) => may(reads))
    .filter(({ feature }) => feature === undefined || features === undefined || features.includes(feature))
    .map((room) => ({
      href: `${consolePath}${room.path}`,
      word: reader.t(`nav.${room.name}`),
      isCurrent: room === current,
    }));
}

/** Links to the subsections of a room that a person may open; undefined if it has none. */
export function placeLinks(
  { places }: Room,
  {
    path,
    current,
    t,
    may,
  }: { path: string; current: string; t: ConsoleReader['t']; may(operation: OperationId): boolean },
): NavigationLink[] | undefined {
  const open = places?.filter(([, , operation]) => may(operation));
  const isBelow = (below: string) => below !== '' && current.startsWith(`${path}${below}`);
  // Pages that lie below no other subsection belong to the first one.
  const isElsewhere = open?.some(([below]) => isBelow(below));
  return open?.map(([below, word]) => ({
    href: `${path}${below}`,
    word: t(word),
    isCurrent: below === '' ? !isElsewhere : isBelow(below),
  }));
}
