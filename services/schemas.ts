import { fileURLToPath } from 'node:url';
import type { SchemaMigrations } from '#lib/db/migrate.ts';

/** Every service that has a schema, in the order in which schemas are migrated. */
export const schemas: readonly SchemaMigrations[] = [
  'auth',
  'forms',
  'transactions',
  'peers',
  'webhooks',
].map((schema) => ({
  schema,
  folder: fileURLToPath(new URL(`./${schema}/migrations`, import.meta.url)),
}));
