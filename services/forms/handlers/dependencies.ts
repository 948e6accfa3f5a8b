import type { Document } from 'openapi-backend';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { Dependencies as CommandDependencies } from '../commands/model-access.ts';
import type { Assets } from '../pages/assets.ts';
import type { PageRenderer } from '../pages/page-renderer.ts';

/** What the first page shows in demo mode (docs/operations.md, "Settings"). */
export interface Demo {
  /** Makes a transaction of the demonstration; the address of its form, null if its models are gone. */
  formUrl(): Promise<string | null>;
  /** Where the lines to copy get a token by password; null if that is not to be had. */
  tokenUrl: string | null;
  /** None with an outside issuer. */
  accounts: { username: string; password: string; role: string }[];
}

/** What the handlers of this service work with; built in compose.ts. */
export interface Dependencies extends CommandDependencies {
  operations: FormsOperations;
  renderer: PageRenderer;
  assets: Assets;
  document: Document;
  instance: PageInstance;
  /** INSTANCE_LANGUAGE */
  defaultLanguage: string;
  /** AUTH_URL */
  authUrl: string;
  /** Public client of the built-in issuer; null with an outside one. */
  publicClient: string | null;
  demo: Demo | null;
}
