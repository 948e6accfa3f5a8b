import type { OperationId } from '../api/api-types.ts';
import type { ConsoleRole, Room } from '../rooms/room.ts';
import type { ConsoleReader } from './console-reader.ts';

/** Path of the console. */
export const consolePath = '/console';

/** A link of the navigation. */
export interface NavigationLink {
  href: string;
  word: string;
  isCurrent: boolean;
}

/** Whether a person has one of a room's roles; `admin` includes `operator`. */
export function mayOpen(room: Pick<Room, 'roles'>, roles: readonly string[]): boolean {
  return room.roles.some((role: ConsoleRole) => roles.includes(role) || roles.includes('admin'));
}

/**
 * The rooms that a person may open, without those whose feature the instance lacks.
 * @param features undefined if the API does not tell: then every room is shown.
 */
export function navigation({
  rooms,
  current,
  roles,
  features,
  reader,
}: {
  rooms: readonly Room[];
  current: Room;
  roles: readonly string[];
  features: readonly string[] | undefined;
  reader: ConsoleReader;
}): NavigationLink[] {
  return rooms
    .filter((room) => mayOpen(room, roles))
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
  return places
    ?.filter(([, , operation]) => may(operation))
    .map(([below, word]) => {
      const href = `${path}${below}`;
      const isCurrent = below === '' ? current === path : current.startsWith(href);
      return { href, word: t(word), isCurrent };
    });
}
