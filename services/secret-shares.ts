import { fileOfSecret } from '#lib/config/secrets.ts';
import { definitions } from './definitions.ts';
import { schemas } from './schemas.ts';

/** Files in which the owner of the database and the role of each service have their passwords. */
export const databasePasswords = ['owner', ...schemas.map(({ schema }) => schema)].map(
  (name) => `database-${name}`,
);

/** Services whose calls a service makes or takes. */
function callersOf({ name, callers }: (typeof definitions)[number]): string[] {
  return [...new Set([name, ...Object.values(callers).flat()])];
}

/** Every service that calls another, or takes calls. */
export const allCallers = [...new Set(definitions.flatMap(callersOf))];

/** The secret files that each program of a distributed instance reads, and no others. */
export const secretShares: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    definitions.map((definition) => [
      definition.name,
      [
        ...definition.secrets.map(fileOfSecret),
        ...callersOf(definition).map((caller) => `internal-${caller}`),
        `database-${definition.name}`,
      ],
    ]),
  ),
  migrate: databasePasswords,
  postgres: ['database-owner'],
};
