import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { filesWith, holds } from './peers-canary/files-with.ts';
import { answerBoth, readEverything, shareQuestion, startPartner } from './peers-canary/partners.ts';

const ours = 'canary-of-the-leader-3f9c1b';
const theirs = 'canary-of-the-owner-7d20ae';

/**
 * A subject answers a question of each of two partners, on the leader's page. @param bug a bug to plant in
 * both.
 * @returns in which of the leader's files, and where else at the leader, a text is found afterwards.
 */
async function search(bug?: string) {
  const folder = await temporaryFolder();
  const [home, away] = [path.join(folder, 'leader'), path.join(folder, 'owner')];
  await Promise.all([mkdir(home), mkdir(away)]);
  const owner = await startPartner(away, bug);
  onTestFinished(async () => void (await owner.stop()));
  const leader = await startPartner(home, bug);
  onTestFinished(async () => void (await leader.stop()));
  const shown = await shareQuestion(leader, owner);
  const made = await answerBoth(leader, shown, { own: ours, theirs });
  const told = await readEverything(leader, shown.admin, made);
  await leader.stop();
  return async (text: string) => ({
    files: await filesWith(home, text),
    log: holds(Buffer.from(leader.said()), text),
    answers: holds(Buffer.from(told), text),
    ownersFiles: (await filesWith(away, text)).length > 0,
  });
}

describe("answers to a peer's elements", () => {
  it('are in no file, log or response of the leader, and are stored at their owner', async () => {
    const found = await search();
    expect(await found(theirs)).toEqual({ files: [], log: false, answers: false, ownersFiles: true });
    // The same search finds what is the leader's own: in its tables, its write-ahead log and its answers.
    const own = await found(ours);
    expect(own.files.some((file) => file.includes('pg_wal'))).toBe(true);
    expect(own.files.some((file) => file.includes('base'))).toBe(true);
    expect(own).toMatchObject({ log: false, answers: true, ownersFiles: false });
  }, 180_000);

  it('would be found in the leader’s files if they were not encrypted', async () => {
    const found = await search('answers-not-sealed');
    expect((await found(theirs)).files).not.toEqual([]);
  }, 180_000);
});
