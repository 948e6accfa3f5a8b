import type { Document } from 'openapi-backend';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Assets } from '#lib/http/assets.ts';
import type { Instance, LiveSettings } from '#lib/runtime/live-settings.ts';
import type { Dependencies as CommandDependencies } from '../commands/model-access.ts';
import type { Issuer } from '../config.ts';
import type { PublicForms } from '../operations/public-form.ts';
import type { PageRenderer } from '../pages/page-renderer.ts';

/** The demonstration on the first page (docs/operations.md, "Settings"). */
export interface Demo {
  /**
   * Creates a transaction of the demonstration; returns the URL of its form, or null if its models are gone.
   */
  formUrl(): Promise<string | null>;
  /** Token endpoint for the commands to copy; null if the password grant is off. */
  tokenUrl: string | null;
  /** Empty with an external issuer. */
  accounts: { username: string; password: string; role: string }[];
}

/** The dependencies of the handlers; built in compose.ts. */
export interface Dependencies extends CommandDependencies {
  operations: FormsOperations;
  /** As they would be if all drafts of new entries were ACTIVE. */
  previews: Pick<FormsOperations, 'resolveLayout' | 'describeForm'>;
  publicForms: PublicForms;
  renderer: PageRenderer;
  assets: Assets;
  document: Document;
  instance: Instance;
  liveSettings: LiveSettings;
  /** AUTH_URL */
  authUrl: string;
  /** Public client of the built-in issuer, for signing in on /docs; null with an external issuer. */
  publicClient: string | null;
  issuer: Issuer;
  /** Null without a console. */
  consolePath: string | null;
  /** PEER_STALE_LIMIT */
  staleDays: number;
  demo: Demo | null;
}
