import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { StartupError } from '#lib/errors/startup-error.ts';

/**
 * Reads a new password: at a terminal it is asked for twice and not shown; otherwise it is the first line of standard input.
 * Never an argument: those are seen by every user of the machine.
 */
export async function readNewPassword(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Promise<string> {
  if (!input.isTTY) return readLine(input);
  const ask = async (question: string) => {
    output.write(question);
    const answer = await readLine(input, { hidden: true });
    output.write('\n');
    return answer;
  };
  const password = await ask('Password: ');
  if ((await ask('The password again: ')) !== password)
    throw new StartupError('The two passwords are not the same; nothing was changed.');
  return password;
}

function readLine(input: NodeJS.ReadStream, { hidden = false } = {}): Promise<string> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: silence, terminal: hidden });
  return new Promise((done, refuse) => {
    lines.once('SIGINT', () => refuse(new StartupError('Interrupted; nothing was changed.')));
    lines.once('line', (line) => {
      done(line);
      lines.close();
    });
    lines.once('close', () => done(''));
  });
}
