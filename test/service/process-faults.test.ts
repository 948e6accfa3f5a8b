import { expect, it } from 'vitest';
import { runCommand } from '../support/programs/run-command.ts';

const fail = (way: string) => runCommand('test/support/programs/failing-program.ts', [way], { env: {} });

it.each(['throw', 'reject', 'text'])(
  'a process that crashes (%s) logs where, and none of the data that it processed',
  async (way) => {
    const { code, output, errors } = await fail(way);
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toMatch(/^The process exits because of an unexpected error: .+\n$/);
    expect(errors).not.toContain('somebody');
    if (way !== 'text') expect(errors).toMatch(/"code":"23514","at":\["at .*failing-program\.ts/);
  },
);

it('a process that fails to start logs the complete error', async () => {
  const { code, errors } = await fail('start');
  expect(code).toBe(1);
  expect(errors).toContain('Error: what somebody answered');
});

it('a process that does not stop within 25 s exits with a failure', async () => {
  const { code, output } = await fail('hang');
  expect({ code, output }).toEqual({ code: 1, output: 'stopping\n' });
});
