import { homedir } from 'node:os';
import path from 'node:path';

/** Where unpacked test infrastructure is kept between runs. */
export function cacheFolder(): string {
  if (process.env.TEST_INFRA_CACHE) return process.env.TEST_INFRA_CACHE;
  if (process.getuid?.() === 0) return '/var/tmp/accord';
  return path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'accord');
}
