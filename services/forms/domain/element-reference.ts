import { isModelKey } from './model-key.ts';

/** What a layout names: a key of this instance, or a peer's as `<key>@<host[:port]>` (docs/interface.md, "Terms"). */
export interface ElementReference {
  key: string;
  /** As in the peer's URL; null: this instance. */
  host: string | null;
}

const bareHost = /^[^\s/?#@\\]+$/;

/** Undefined for a text that names nothing. */
export function parseReference(text: string): ElementReference | undefined {
  const at = text.indexOf('@');
  const key = at < 0 ? text : text.slice(0, at);
  if (!isModelKey(key)) return undefined;
  if (at < 0) return { key, host: null };
  const host = text.slice(at + 1);
  const url = bareHost.test(host) ? URL.parse(`https://${host}`) : null;
  return url?.pathname === '/' ? { key, host: url.host } : undefined;
}

/** `<key>@<host>`, or the key alone. */
export function formatReference({ key, host }: ElementReference): string {
  return host === null ? key : `${key}@${host}`;
}

/** A reference in the one way of writing it (`k@Lab.EXAMPLE:443` → `k@lab.example`); other texts stay as they are. */
export function canonicalReference(text: string): string {
  const reference = parseReference(text);
  return reference ? formatReference(reference) : text;
}
