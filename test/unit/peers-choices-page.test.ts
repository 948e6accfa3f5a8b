import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generatePrivateKey, readPrivateKey } from '#lib/config/secret-values.ts';
import { createNoteSigner } from '#lib/witness/note-signer.ts';
import {
  describeInstance,
  readDescription,
  type SelfDescription,
  signDescription,
} from '../../services/peers/domain/description.ts';

const url = 'https://lab.example:8443';
const [signing, sealing] = [readPrivateKey(generatePrivateKey()), readPrivateKey(generatePrivateKey())];
const own = describeInstance({
  baseUrl: url,
  name: 'Lab',
  signingKeys: [signing],
  sealingKeys: [sealing],
  notes: createNoteSigner(url, [signing]),
});
const now = new Date();

/** What a peer reads of a self-description with other endpoints. */
function choicesIn(endpoints: unknown): string | null {
  const jws = signDescription({ ...own, endpoints } as SelfDescription, signing, now);
  const read = readDescription(jws, { url, now, ownKids: new Set() });
  if ('fault' in read) throw new Error(read.fault);
  return read.description.choices;
}

describe('the page "My choices" that a peer announces', () => {
  it('is that of an instance itself', () => {
    expect(choicesIn(own.endpoints)).toBe(`${url}/choices`);
    expect(choicesIn({ choices: `${url}/en/choices` })).toBe(`${url}/en/choices`);
  });

  it('is ignored at another origin, with a query or a fragment, and in any other form', () => {
    for (const choices of [
      'https://lab.example/choices',
      'http://lab.example:8443/choices',
      `https://lab.example:8443@evil.example/choices`,
      `https://me:you@lab.example:8443/choices`,
      `${url}/choices?to=https://evil.example`,
      `${url}/choices#from=AAAAAAAAAAAAAAAAAAAAAA`,
      `${url}/choices#`,
      `${url}/${'a'.repeat(2_100)}`,
      'javascript:alert(1)',
      '/choices',
      '',
      7,
      null,
    ])
      expect(choicesIn({ choices })).toBeNull();
    for (const endpoints of [undefined, null, 'endpoints', []]) expect(choicesIn(endpoints)).toBeNull();
  });

  it('is always at the origin of the peer', () => {
    const stated = fc.oneof(fc.webUrl({ withFragments: true, withQueryParameters: true }), fc.string());
    fc.assert(
      fc.property(stated, (choices) => {
        const read = choicesIn({ choices });
        expect(read === null || new URL(read).origin === url).toBe(true);
      }),
      // Each is signed.
      { numRuns: 25 },
    );
  });
});
