import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createWorkshop } from '../clients/workshop.ts';
import { findPython } from '../infrastructure/python.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { until } from '../support/run/until.ts';

const python = await findPython();
const instance = useInstance();

/** The same JWS with another text. */
function forge(jws: string): string {
  const [header, payload = '', signature] = jws.split('.');
  const text = Buffer.from(payload, 'base64url').toString().replace('{', '{"forged":true,');
  return [header, Buffer.from(text).toString('base64url'), signature].join('.');
}

describe.skipIf(!python)('PyJWT and jwcrypto', () => {
  it('verify a receipt and a checkpoint with the base URL alone, and refuse changed ones', {
    timeout: 300_000,
  }, async () => {
    const admin = await signIn(instance, 'admin');
    const { id } = await recordAnswers(admin, 'ann', { [letter]: ['accepted'] });
    const receipt = await (await admin.get(`/receipts/${id}`, { Accept: 'application/jose' })).text();
    const checkpoint = await until(async () => {
      const response = await admin.get('/audit/checkpoints');
      const [newest] = ((await response.json()) as components['schemas']['CheckpointList']).values;
      expect(newest).toBeDefined();
      return newest?.jws ?? '';
    });
    const { at, run, write, takeDriver, installPython } = createWorkshop(await temporaryFolder());
    await installPython('pyjwt', 'jwcrypto');
    await takeDriver('verify_keys.py', 'verify_keys.py');
    const tokens = [receipt, checkpoint, forge(receipt), forge(checkpoint)];
    await write('asked.json', JSON.stringify({ base: instance.url, tokens }));
    const said = await run(at('venv/bin/python'), 'verify_keys.py', 'asked.json');
    expect(JSON.parse(said)).toEqual([
      [true, true],
      [true, true],
      [false, false],
      [false, false],
    ]);
  });
});
