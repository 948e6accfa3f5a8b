import pg from 'pg';
import type { TestInstance } from '../../support/instances/instance.ts';

/**
 * Everything that requests change; what is only noted (the last use of a key, events under way) is left out.
 */
const tables = [
  'auth.accounts',
  'auth.setup_links',
  'auth.clients',
  'forms.models',
  'forms.model_versions',
  'forms.logos',
  'transactions.transactions',
  'transactions.context_claims',
  'transactions.transaction_history',
  'transactions.records',
  'transactions.receipts',
  'transactions.codes',
  'transactions.subjects',
  'transactions.notices',
];

/** Each row by the place and the transaction that wrote it, which every change of a row changes. */
const text = [
  ...tables.map(
    (table) =>
      `SELECT '${table}' AS name, md5(string_agg(t.ctid || ' ' || t.xmin, ' ' ORDER BY t.ctid)) AS digest FROM ${table} AS t`,
  ),
  `SELECT 'auth.api_keys', md5(string_agg(k.id || coalesce(k.revoked_at::text, ''), ' ' ORDER BY k.id)) FROM auth.api_keys AS k`,
  // Mails are sent in the background: what became of one is noted at any time.
  `SELECT 'transactions.messages', md5(string_agg(m.id::text || m.kind, ' ' ORDER BY m.id)) FROM transactions.messages AS m`,
  // So is the last contact with a peer.
  `SELECT 'peers.peers', md5(string_agg(p.id::text || p.state || p.subject_prefix || coalesce(p.notification, '') || coalesce(p.announced::text, ''), ' ' ORDER BY p.id)) FROM peers.peers AS p`,
  // What became of calls is noted at any time.
  `SELECT 'webhooks.webhooks', md5(string_agg(w.id || w.name || w.target_url || w.secret::text || w.state, ' ' ORDER BY w.id)) FROM webhooks.webhooks AS w`,
  `SELECT 'webhooks.deliveries', md5(string_agg(d.id::text, ' ' ORDER BY d.id)) FROM webhooks.deliveries AS d WHERE d.redelivery OR d.action = 'webhook.test'`,
].join(' UNION ALL ');

/** Tells whether anything was changed: two results are equal if nothing was. */
export async function createStoreReader({ databaseUrl }: TestInstance) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return {
    read: async (): Promise<Record<string, string>> =>
      Object.fromEntries((await client.query(text)).rows.map(({ name, digest }) => [name, digest])),
    end: () => client.end(),
  };
}
