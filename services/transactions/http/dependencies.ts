import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import type { SecretBox } from '#lib/jose/secret-box.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';
import type { SubmitDependencies } from '../answer/submit.ts';
import type { UnsubscribeTokens } from '../campaigns/unsubscribe-token.ts';
import type { ChoicesTokens } from '../choices/session.ts';
import type { DecisionCounts } from '../decisions/counts.ts';
import type { DecideDependencies } from '../decisions/decide.ts';
import type { AccessMappings } from '../decisions/mappings-store.ts';
import type { DemoMailbox } from '../delivery/demo.ts';
import type { ErasureDependencies } from '../erasure/erase.ts';
import type { PageSigner } from '../export/sign-page.ts';
import type { ShortCodes } from '../transaction/short-link.ts';
import type { ChoicesSessions } from './choices-session.ts';

/** Dependencies of the handlers; compose.ts builds them. */
export interface Dependencies extends SubmitDependencies, DecideDependencies, ErasureDependencies {
  db: Database;
  forms: FormsOperations;
  instance: Instance;
  /** Signs pages of exports. */
  signPage: PageSigner;
  /** Encrypts scans of answers. */
  documents: SecretBox;
  /** EMBED_ORIGINS as CSP sources. */
  embedOrigins: string;
  /** Messages that a demonstration keeps instead of sending them; null if it keeps none. */
  mailbox: DemoMailbox | null;
  /** Counts what strangers begin against the limit `public`. */
  countPublic: RateLimiter['countPublic'];
  /** Counts tries of short links against the limit `link`, and forgets one that was right. */
  countLink: RateLimiter['countLink'];
  forgetLink: RateLimiter['forgetLink'];
  shortCodes: ShortCodes;
  choicesTokens: ChoicesTokens;
  choices: ChoicesSessions;
  /** Counts requests for a link to choices; false beyond the limits. */
  countChoices: RateLimiter['countChoices'];
  unsubscribeTokens: UnsubscribeTokens;
  /** Wakes the job that sends the messages of campaigns. */
  wakeCampaigns: () => void;
  /** Counts questions against the limit `decision`. */
  countDecisions: RateLimiter['countDecisions'];
  decisionCounts: Pick<DecisionCounts, 'count'>;
  accessMappings: AccessMappings;
  log: Logger;
}
