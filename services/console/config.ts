import { str } from 'envalid';
import { originUrl } from '#lib/config/address-validators.ts';
import type { Settings } from '#lib/config/settings.ts';
import { type ProcessSettings, signInSpecs } from '#lib/config/specs.ts';
import { secondsOrDuration } from '#lib/config/validators.ts';

/** The settings of this service (docs/operations.md, "Settings"). */
export const consoleSpecs = {
  OIDC_ISSUER: signInSpecs.OIDC_ISSUER,
  AUTH_URL: signInSpecs.AUTH_URL,
  CONSOLE: signInSpecs.CONSOLE,
  /** Where the console calls the API and the built-in issuer. */
  API_URL: originUrl({ default: undefined }),
  /** The client of the console at the issuer. */
  CONSOLE_CLIENT_ID: str({ default: 'accord-console' }),
  /** Colour by which people tell the consoles of several instances apart. */
  CONSOLE_ACCENT: str({ choices: ['teal', 'violet', 'rust'], default: 'teal' }),
  CONSOLE_SCOPES: str({ default: 'openid' }),
  /** Seconds without a request after which a session ends. */
  CONSOLE_IDLE: secondsOrDuration({ default: 30 * 60 }),
  /** Seconds after which every session ends. */
  CONSOLE_MAX: secondsOrDuration({ default: 12 * 60 * 60 }),
};

/** Where the API is called. Default: this process if it has all services, else BASE_URL. */
export function apiUrlOf(
  settings: Settings<typeof consoleSpecs> & Pick<ProcessSettings, 'BASE_URL' | 'HOST' | 'PORT'>,
  { baseUrl, standalone }: { baseUrl: string; standalone: boolean },
): string {
  const { API_URL, BASE_URL, HOST, PORT } = settings;
  if (API_URL) return API_URL;
  // Without BASE_URL the instance is called by the port on which it listens.
  if (!standalone || !BASE_URL || PORT === 0) return baseUrl;
  const isEverywhere = HOST === '0.0.0.0' || HOST === '::';
  const host = isEverywhere ? 'localhost' : HOST.includes(':') ? `[${HOST}]` : HOST;
  return `http://${host}:${PORT}`;
}
