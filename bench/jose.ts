import { generateKeyPairSync } from 'node:crypto';
import { CompactEncrypt, CompactSign, compactDecrypt, compactVerify, importJWK, type JWK } from 'jose';
import { decryptCompact, encryptCompact, readCompact } from '#lib/jose/jwe.ts';
import { createCompactJws, createEs256, provePayload, readCompactJws } from '#lib/jose/jws.ts';
import { privateKeyOf, publicKeyOf } from '#lib/jose/keys.ts';

// `npm run bench:jose`: what lib/jose saves beside the package `jose`, for each step of a part (ADR 18). Both
// do the same work with the same keys, one after the other.

const times = 2_000;
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const [own, shared] = [pair.privateKey, pair.publicKey].map((key) => key.export({ format: 'jwk' })) as [
  JWK,
  JWK,
];
const payload = JSON.stringify({ answers: 'x'.repeat(1_000) });
const bytes = Buffer.from(payload);

const signHere = createCompactJws({ alg: 'ES256' }, createEs256(own));
const [joseOwn, joseShared] = [await importJWK(own, 'ES256'), await importJWK(shared, 'ES256')];
const sealingKey = await importJWK(shared, 'ECDH-ES');
const openingKey = await importJWK(own, 'ECDH-ES');
const jws = signHere(payload);
const jwe = encryptCompact(bytes, { key: publicKeyOf(shared), more: {} });

const steps = {
  'sign (ES256)': {
    here: () => signHere(payload),
    jose: () => new CompactSign(bytes).setProtectedHeader({ alg: 'ES256' }).sign(joseOwn),
  },
  'verify (ES256)': {
    here: () =>
      provePayload(readCompactJws(jws) as NonNullable<ReturnType<typeof readCompactJws>>, shared, 'ES256'),
    jose: () => compactVerify(jws, joseShared),
  },
  'encrypt (ECDH-ES, A256GCM)': {
    here: () => encryptCompact(bytes, { key: publicKeyOf(shared), more: {} }),
    jose: () =>
      new CompactEncrypt(bytes).setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM' }).encrypt(sealingKey),
  },
  'decrypt (ECDH-ES, A256GCM)': {
    here: () =>
      decryptCompact(readCompact(jwe) as NonNullable<ReturnType<typeof readCompact>>, privateKeyOf(own)),
    jose: () => compactDecrypt(jwe, openingKey),
  },
};

/** @returns microseconds of a call, elapsed and of CPU (all threads). */
async function measure(run: () => unknown): Promise<{ elapsed: number; cpu: number }> {
  for (let warm = 0; warm < times / 4; warm += 1) await run();
  const [before, from] = [process.cpuUsage(), performance.now()];
  for (let time = 0; time < times; time += 1) await run();
  const { user, system } = process.cpuUsage(before);
  return { elapsed: ((performance.now() - from) * 1_000) / times, cpu: (user + system) / times };
}

process.stdout.write(
  '| step | lib/jose, µs CPU (elapsed) | jose, µs CPU (elapsed) | CPU of jose ÷ ours |\n|---|---:|---:|---:|\n',
);
for (const [name, { here, jose }] of Object.entries(steps)) {
  const [ours, theirs] = [await measure(here), await measure(jose)];
  const figures = [ours, theirs].map(({ elapsed, cpu }) => `${cpu.toFixed(0)} (${elapsed.toFixed(0)})`);
  process.stdout.write(`| ${name} | ${figures.join(' | ')} | ${(theirs.cpu / ours.cpu).toFixed(1)} |\n`);
}
