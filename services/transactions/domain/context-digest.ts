import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ActiveVersions, PinnedLayout } from '#lib/contracts/forms.ts';
import type { ConsentContext } from './context.ts';

/**
 * What makes two contexts equal (docs/interface.md, "Duplicate creation"): SHA-256 over the canonical JSON (RFC 8785) of the
 * context with its layout resolved, each element with its ACTIVE MAJOR. Author, sendInvitation and Accept-Language do not count, nor
 * whether the elements came as `blocs`: they mean the same (§4).
 */
export function contextDigest(context: ConsentContext, layout: PinnedLayout, active: ActiveVersions): Buffer {
  const { author, sendInvitation, layout: _saved, layoutData, ...counted } = context;
  const withMajor = (key: string) => [key, active[key]?.major ?? null];
  const { id, blocs, ...options } = layout;
  const resolved = { ...options, info: withMajor(layout.info), elements: layout.elements.map(withMajor) };
  return sha256Canonical({ ...counted, layout: resolved });
}

/** SHA-256 over the canonical JSON (RFC 8785) of a value. Members that are undefined are left out. */
export function sha256Canonical(value: unknown): Buffer {
  return hash('sha256', canonicalize(value) as string, 'buffer');
}
