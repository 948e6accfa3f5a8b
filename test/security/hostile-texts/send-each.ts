import type { WatchedProcess } from './process-under-test.ts';
import type { HostileText } from './texts.ts';

/** CPU time of the server's main thread that one request may take in one go. */
export const longestTurnMs = 100;
const mostTries = 3;

/**
 * Sends a request with each text.
 * @param send returns the status. @returns what kept everybody waiting, or was not answered as it should be.
 */
export async function sendEach(
  watched: WatchedProcess,
  { name, texts, bytes }: { name: string; texts: readonly HostileText[]; bytes: number },
  send: (text: string) => Promise<number>,
): Promise<string[]> {
  // What is compiled at the first use is not measured.
  await send('a');
  const broken: string[] = [];
  for (const text of texts) {
    const fault = await faultOf(watched, () => send(text.of(bytes)));
    if (fault) broken.push(`${name}, ${text.name}: ${fault}`);
  }
  return broken;
}

/** Garbage may be collected in any turn; what is wrong with a text happens every time. */
async function faultOf(watched: WatchedProcess, send: () => Promise<number>): Promise<string | undefined> {
  let turn = 0;
  for (let tries = 0; tries < mostTries; tries += 1) {
    await watched.longestTurn();
    const status = await send();
    turn = await watched.longestTurn();
    if (status >= 500) return `answered ${status}`;
    if (turn <= longestTurnMs) return undefined;
  }
  return `everybody waits for ${Math.round(turn)} ms`;
}
