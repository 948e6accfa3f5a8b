import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Context } from 'koa';
import type { Provider } from 'oidc-provider';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import { fail } from '#lib/errors/fail.ts';
import { parseForm, readBodyOf } from '#lib/http/read-input.ts';
import { acceptedLanguages } from '#lib/i18n/match-language.ts';
import { loadTemplates } from '#lib/pages/load-templates.ts';
import type { OwnAddress } from '../commands/own-address.ts';
import type { ForgetPassword } from '../operations/forgotten-password.ts';
import type { GuessGuard } from '../operations/guess-guard.ts';
import type { SecondFactor } from '../operations/second-factor.ts';
import type { Setup } from '../operations/setup.ts';
import type { AccountDirectory, SignIn } from '../operations/sign-in.ts';
import type { FindWords } from './words.ts';

/** The pages of the built-in issuer. */
export interface Pages {
  /** Renders a page in the reader's language; `text` and faults in `view` are locale keys. */
  render(ctx: Context, page: PageName, view: object): string;
  stylesheet: { path: string; body: string };
}

const names = [
  ...(['sign-in', 'code', 'enrol', 'recovery', 'setup', 'done'] as const),
  ...(['forgotten', 'address', 'message', 'error'] as const),
] as const;

export type PageName = (typeof names)[number];

/** The instance as it is set now: its members change while the process runs. */
export type IssuerInstance = Omit<PageInstance, 'baseUrl'> & { readonly language: string };

/** Dependencies of the issuer's pages. */
export interface PageParts {
  provider: Provider;
  pages: Pages;
  signIn: SignIn;
  accounts: AccountDirectory;
  setup: Setup;
  guess: GuessGuard;
  /** Null without a mail server. */
  forget: ForgetPassword | null;
  ownAddress: OwnAddress;
  secondFactor: SecondFactor;
  instance: IssuerInstance;
  /** Secrets that seal how far a sign-in has come. */
  ticketKeys: readonly Uint8Array[];
  /** Path of AUTH_URL. */
  issuerPath: string;
  /** Null without a console. */
  consolePath: string | null;
}

/** Loads the templates of all pages. */
export function loadPageTemplates() {
  return loadTemplates(new URL('../views/', import.meta.url), names);
}

/** Loads styles and templates. */
export function createPages({
  issuerPath,
  instance,
  consolePath,
  words,
}: {
  issuerPath: string;
  instance: IssuerInstance;
  consolePath: string | null;
  words: FindWords;
}): Pages {
  /** The way on from an error page. */
  const next = consolePath ? { href: consolePath, word: 'next.console' } : { href: '/', word: 'next.home' };
  const templates = loadPageTemplates();
  const stylesheet = readStylesheet(issuerPath);
  return {
    stylesheet,
    render(ctx, page, view) {
      const wanted = [
        String(ctx.query.ui_locales ?? ''),
        ...acceptedLanguages(ctx.get('accept-language')),
        instance.language,
      ];
      const { language, dir, t } = words(wanted);
      return templates[page]({ next, ...view, t, language, dir, instance, stylesheet: stylesheet.path });
    },
  };
}

function readStylesheet(issuerPath: string): { path: string; body: string } {
  const body = readFileSync(new URL('../assets/sign-in.css', import.meta.url), 'utf8');
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  return { path: `${issuerPath}/assets/sign-in.${hash}.css`, body };
}

/** Largest form body, in bytes. */
export const maxFormBytes = 16 * 1024;

/** Reads a posted form. @throws Failure `unsupported-media-type`, `too-large`, `malformed`. */
export async function readForm(ctx: Context): Promise<URLSearchParams> {
  if (!ctx.is('application/x-www-form-urlencoded'))
    throw fail('unsupported-media-type', 'Send the body as application/x-www-form-urlencoded.');
  return parseForm(await readBodyOf(ctx, maxFormBytes));
}
