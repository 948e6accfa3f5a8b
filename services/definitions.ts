import { fileOfSecret } from '#lib/config/secrets.ts';
import type { ServiceDefinition } from '#lib/runtime/service-definition.ts';
import { authService } from './auth/service.ts';
import { consoleService } from './console/service.ts';
import { formsService } from './forms/service.ts';
import { peersService } from './peers/service.ts';
import { transactionsService } from './transactions/service.ts';
import { webhooksService } from './webhooks/service.ts';

/**
 * All services. Schemas are migrated, and standalone mode composes and starts services, in this order; it
 * stops them in reverse order.
 */
export const definitions = [
  authService,
  formsService,
  transactionsService,
  peersService,
  webhooksService,
  consoleService,
] as ServiceDefinition[];

/** Password files of the database's owner and of each service's role. */
export const databasePasswords = ['owner', ...definitions.map(({ name }) => name)].map(
  (name) => `database-${name}`,
);

/** Services whose internal secret a service needs: its own and those of its callers. */
function callersOf({ name, callers }: (typeof definitions)[number]): string[] {
  return [...new Set([name, ...Object.values(callers).flat()])];
}

/** Services with an internal secret. */
export const allCallers = [...new Set(definitions.flatMap(callersOf))];

/** The secret files that each program of a distributed instance reads. */
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
