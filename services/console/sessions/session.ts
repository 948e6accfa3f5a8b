import type { Context } from 'koa';
import type { OpenSession } from './store.ts';

/** The tokens of a person and what the API says of them. They never leave the server. */
export interface SignedIn {
  accessToken: string;
  /** Null if the issuer gives none. */
  refreshToken: string | null;
  /** For the end of the issuer's own session. */
  idToken: string;
  name: string;
  roles: readonly string[];
}

/** A person who is signed in to the console, as pages see them. */
export interface ConsoleSession {
  /** The name of the person at the issuer. */
  name: string;
  /** Names the account in its own pages; opens nothing. */
  account: string;
  roles: readonly string[];
  signedInAt: Date;
  accessToken: string;
  /** The person's own sessions; absent where there is no store of sessions. */
  own?: OwnSessions;
  /** Absent where there is no store of sessions. */
  calls?: RecentCalls;
}

/** The calls of a form that was carried out, for "The same by API" on the page that follows. */
export interface RecentCalls {
  keep(lines: readonly string[]): Promise<void>;
  /** @returns the lines that the request before has kept, once. */
  take(): Promise<string[]>;
}

export interface OwnSessions {
  list(): Promise<OpenSession[]>;
  /** Ends one session, or all but this one. */
  end(handle?: string): Promise<void>;
}

/** A form as it was sent: its page, and its fields. */
export interface KeptPost {
  path: string;
  fields: [name: string, value: string][];
}

/** The files of a form that was sent, by field. They are not kept during a sign-in. */
export type SentFiles = ReadonlyMap<string, File>;

/** What the middleware of sessions puts on a request. */
interface SessionState {
  session?: ConsoleSession;
  form?: URLSearchParams;
  files?: SentFiles;
  kept?: URLSearchParams;
}

/** The session of a request to a page. */
export function sessionOf(ctx: Context): ConsoleSession {
  const { session } = ctx.state as SessionState;
  if (!session) throw new Error('this page needs a session');
  return session;
}

/** The fields of a form that was sent. */
export function formOf(ctx: Context): URLSearchParams {
  return (ctx.state as SessionState).form ?? new URLSearchParams();
}

/** The file of a field of the form that was sent; undefined if none was chosen. */
export function fileOf(ctx: Context, name: string): File | undefined {
  return (ctx.state as SessionState).files?.get(name);
}

/**
 * The fields of a form of this page that was not carried out, because its person had to sign in again. They
 * are shown as they were typed.
 */
export function keptOf(ctx: Context): URLSearchParams | undefined {
  return (ctx.state as SessionState).kept;
}
