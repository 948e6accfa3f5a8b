import type { JWK } from 'jose';
import { digestLines, type PageStatement, pageType } from '#lib/evidence/signed-page.ts';
import { createCompactJws, createEs256 } from '#lib/jose/jws.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';

/** A page of an export, before it is sent. */
interface SentPage extends Pick<PageStatement, 'export' | 'part' | 'after' | 'next'> {
  values: readonly object[];
}

/** States which lines this instance sends, from where to where. @returns a compact JWS. */
export type PageSigner = (page: SentPage) => string;

/** @param signingKey the instance's private key, which also signs receipts. */
export function createPageSigner(
  signingKey: JWK & { kid: string },
  instance: Pick<Instance, 'baseUrl'>,
): PageSigner {
  const header = { alg: 'ES256', kid: signingKey.kid, typ: pageType };
  const sign = createCompactJws(header, createEs256(signingKey));
  return ({ values, ...page }) => {
    const statement: PageStatement = {
      iss: instance.baseUrl,
      iat: Math.floor(Date.now() / 1000),
      ...page,
      lines: values.length,
      sha256: digestLines(values),
    };
    return sign(JSON.stringify(statement));
  };
}
