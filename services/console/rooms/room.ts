import type Router from '@koa/router';
import type { OperationId } from '../api/api-types.ts';
import type { RoomTools } from '../pages/tools.ts';

/** A place of the console: its pages below one path. */
export interface Room {
  /** Its folder below `rooms/`; its word in the navigation is the message `nav.<name>`. */
  name: string;
  /** Default: `rooms/<name>/`. */
  folder?: URL;
  /** Below `/console`: empty for the first page, else with a leading slash. */
  path: string;
  /**
   * What its first page reads. Who may not call it has no entry in the navigation and no link to the room,
   * and its URLs answer 403.
   */
  reads: OperationId;
  /** A member of `features` of GET /system/config that it needs. */
  feature?: string;
  /** Its subsections, which each of its pages shows: below its path, with the key of their word. */
  places?: readonly (readonly [path: string, word: string, operation: OperationId])[];
  /** Names of its templates in `views/`. */
  views: readonly string[];
  /** Adds the routes of its pages. Paths are below the room's path. */
  routes(router: Router, tools: RoomTools): void;
}
