import { expect, it } from 'vitest';
import { runCommand } from '../support/programs/run-command.ts';

const fail = (way: string) => runCommand('test/support/programs/failing-program.ts', [way], { env: {} });

it.each(['throw', 'reject', 'text'])(
  'a process that fails at work (%s) says where, and nothing of what it worked on',
  async (way) => {
    const { code, output, errors } = await fail(way);
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toMatch(/^The process exits because of an unexpected error: .+\n$/);
    expect(errors).not.toContain('somebody');
    if (way !== 'text') expect(errors).toMatch(/"code":"23514","at":\["at .*failing-program\.ts/);
  },
);

it('a process that fails while it starts says all that it knows', async () => {
  const { code, errors } = await fail('start');
  expect(code).toBe(1);
  expect(errors).toContain('Error: what somebody answered');
});

it('a process whose stop hangs is cut off after 25 s, and says by its exit that it was', async () => {
  const { code, output } = await fail('hang');
  expect({ code, output }).toEqual({ code: 1, output: 'stopping\n' });
});
