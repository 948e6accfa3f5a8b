/**
 * PostgreSQL beside one Accord process: light, and as durable as its defaults (nothing acknowledged is lost).
 * Given on the command line at each start, so they change with the version of Accord and not with the data.
 */
export const serverSettings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  // Their paths may have 107 bytes at most, which a folder below somebody's home soon has.
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',

  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // How much a crash may leave to be read again before the next start is ready.
  max_wal_size: '256MB',
  min_wal_size: '64MB',

  max_connections: '60',
  shared_buffers: '64MB',
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  effective_cache_size: '512MB',
  io_method: 'sync',
  max_worker_processes: '2',
  max_parallel_workers: '0',
  max_logical_replication_workers: '0',
  autovacuum_max_workers: '2',
  jit: 'off',

  // Messages below LOG and details quote values, and answers must not get into a log (security.md).
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

/** Settings as arguments of `postgres`. */
export function settingArguments(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
