import { describe, expect, it } from 'vitest';
import { clients } from '../clients/clients.ts';
import { tryClient } from '../clients/try-client.ts';
import { createWorkshop } from '../clients/workshop.ts';
import { findPython } from '../infrastructure/python.ts';
import { useInstance } from '../support/instances/instance.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const python = await findPython();

/** `npm run test:clients` tries the others, too. */
const tried = clients.filter(({ needs }) =>
  needs.every((program) => program === 'npm' || (program === 'python3' && python)),
);

describe('a client of the contract that needs only npm or PyPI', () => {
  const instance = useInstance();

  it.concurrent.each(tried.map((client) => [client.name, client] as const))(
    'is made, and creates, answers, proves and withdraws a consent: %s',
    { timeout: 300_000 },
    async (_, client) => {
      const result = await tryClient(client, instance.url, await temporaryFolder());
      expect(result.said).toBe('yes');
    },
  );
});

describe.skipIf(!python)('the contract', () => {
  it('is valid for openapi-spec-validator', { timeout: 300_000 }, async () => {
    const { at, run, contract, installPython } = createWorkshop(await temporaryFolder());
    await installPython('openapi-spec-validator');
    expect(await run(at('venv/bin/openapi-spec-validator'), contract)).toContain('OK');
  });
});
