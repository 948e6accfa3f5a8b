import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import { recordAction, thisInstance } from '#lib/audit/record-action.ts';
import { Failure } from '#lib/errors/fail.ts';
import { readNow } from '../transaction/store.ts';
import { beginMessages } from './begin.ts';
import { type Campaign, wantedOf } from './campaign.ts';
import {
  changeMembers,
  closeMembers,
  endLostAttempts,
  hasOpen,
  listAsked,
  type MemberChange,
} from './members-store.ts';
import { readPeopleById } from './people-store.ts';
import { factsOf, pickNext, readActive } from './pick.ts';
import { judge } from './rules.ts';
import { type SendDependencies, type Sending, sendBegun, settle } from './send.ts';
import { listWorking, lockCampaign, moveCampaign } from './store.ts';

/** Messages that one process sends at the same time: so many workers, and so many messages of each. */
const workers = 4;
const perWorker = 8;
/** How often a process looks for work, and whether a campaign whose messages it sends still runs. */
const everyMs = 500;
const batch = 2_000;
/** Looking at all who were asked takes at most this share of the time of a process. */
const lookShare = 0.05;
/** After a failure of the server, a process begins nothing more for so long. */
const outageMs = 15_000;

/**
 * Sends the messages of campaigns, picks their people, notes who has answered, and ends campaigns. Several
 * processes may work on the same campaign: the lock of its row orders them.
 */
export function createCampaignJob(dependencies: SendDependencies): RepeatedWork {
  const { db, log } = dependencies;
  const sending = new Set<Sending>();
  const looks = new Map<string, Look>();
  let working: Campaign[] = [];
  let outageUntil = 0;

  async function sendNext(id: string): Promise<boolean> {
    if (performance.now() < outageUntil) return false;
    const begun = await beginMessages(dependencies, id, perWorker).catch((error: unknown) =>
      pauseForForm(dependencies, id, error),
    );
    const started = begun.map((message) => sendBegun(dependencies, message));
    for (const each of started) sending.add(each);
    const ended = await Promise.all(started.map((each) => each.ended));
    for (const each of started) sending.delete(each);
    if (ended.length > 0) await settle(dependencies, id, ended);
    if (ended.some(({ isAway }) => isAway)) outageUntil = performance.now() + outageMs;
    return begun.length > 0;
  }

  const work = (name: string, run: (isStopped: () => boolean) => Promise<void>) =>
    createRepeatedWork({
      everyMs,
      work: run,
      onError: (error) => log.warn(`failed to ${name} campaigns; repeated`, { error }),
    });
  const jobs = [
    // Ends the attempts of campaigns that do not run any more, as far as their content is not being sent.
    work('watch', async () => {
      working = await listWorking(db);
      const running = working.filter(({ state }) => state === 'RUNNING').map(({ id }) => id);
      for (const each of sending) if (!running.includes(each.begun.campaign.id)) each.abandon();
    }),
    work('look after', async (isStopped) => {
      while (!isStopped() && (await endLostAttempts(db, batch)) === batch);
      for (const campaign of working) if (!isStopped()) await lookAfter(dependencies, campaign, looks);
    }),
    ...Array.from({ length: workers }, () =>
      work('send messages of', async (isStopped) => {
        for (const { id, state } of working)
          while (state === 'RUNNING' && !isStopped() && (await sendNext(id)));
      }),
    ),
  ];
  return {
    start() {
      for (const each of jobs) each.start();
    },
    async runOnce() {
      for (const each of jobs.slice(0, 2)) await each.runOnce();
    },
    async stop() {
      for (const each of sending) each.abandon();
      await Promise.all(jobs.map((each) => each.stop()));
    },
  };
}

/** How far a process has looked at the people who were asked. */
interface Look {
  /** Id of the last person of the round; null: the next round begins. */
  after: string | null;
  /** When it looks at the next ones, by the clock of `performance.now`. */
  nextAt: number;
}

/** Picks, notes who has answered, and ends. @param looks by campaign. */
async function lookAfter(
  dependencies: SendDependencies,
  campaign: Campaign,
  looks: Map<string, Look>,
): Promise<void> {
  const { db } = dependencies;
  const { id, state, isPicked, endAt, startAt } = campaign;
  const now = await readNow(db);
  if (startAt && startAt > now) return;
  if (state === 'RUNNING' && !isPicked) await pickNext(dependencies, id);
  const look = looks.get(id) ?? { after: null, nextAt: 0 };
  if (performance.now() >= look.nextAt) looks.set(id, await lookOn(dependencies, campaign, look));
  const isOver = state === 'CANCELLED' || (endAt !== null && endAt <= now);
  if (isOver && (await closeMembers(db, id, batch)) === batch) return;
  const isDone = isOver || (state === 'RUNNING' && isPicked);
  if (state !== 'CANCELLED' && isDone && !(await hasOpen(db, id, ['PICKED', 'SENDING', 'SENT']))) {
    looks.delete(id);
    await finish(dependencies, id);
  }
}

/**
 * Pauses a campaign whose form can no longer ask its elements, so that a person mends the form.
 * @throws `error`, if it has another reason.
 */
async function pauseForForm(
  { db, instance, wake, log }: SendDependencies,
  id: string,
  error: unknown,
): Promise<[]> {
  if (!(error instanceof Failure) || error.code === 'unavailable') throw error;
  await db.withTransaction(async (tx) => {
    const campaign = await lockCampaign(tx, id);
    if (campaign?.state !== 'RUNNING') return;
    await moveCampaign(tx, campaign, { state: 'PAUSED', problem: 'FORM' }, instance.baseUrl);
    await recordAction(tx, { action: 'campaign.paused', target: `campaign/${id}` }, thisInstance);
  });
  wake();
  log.warn('campaign paused: its form can no longer ask its elements', { id, code: error.code });
  return [];
}

async function finish({ db, instance, wake }: SendDependencies, id: string): Promise<void> {
  await db.withTransaction(async (tx) => {
    const campaign = await lockCampaign(tx, id);
    if (campaign?.state === 'RUNNING' || campaign?.state === 'PAUSED')
      await moveCampaign(tx, campaign, { state: 'DONE' }, instance.baseUrl);
  });
  wake();
}

/** Looks at the next people, and then rests, the longer the more work it was. */
async function lookOn(
  dependencies: SendDependencies,
  campaign: Campaign,
  { after: last }: Look,
): Promise<Look> {
  const start = performance.now();
  const after = await lookAgain(dependencies, campaign, last);
  const end = performance.now();
  return { after, nextAt: end + (end - start) * (1 / lookShare - 1) };
}

/** Notes which of the next people who were asked have answered. @returns whom it has looked at last. */
async function lookAgain(
  dependencies: SendDependencies,
  campaign: Campaign,
  after: string | null,
): Promise<string | null> {
  const { db, forms } = dependencies;
  const asked = await listAsked(db, campaign.id, { after, limit: batch });
  const people = await readPeopleById(
    db,
    campaign,
    asked.map(({ reference }) => reference),
  );
  const wanted = wantedOf(campaign, await readActive(forms, campaign, people.values()), await readNow(db));
  const changes = asked.flatMap((member): MemberChange[] => {
    const person = people.get(member.reference);
    const verdict = person && judge(member, factsOf(campaign, person), wanted);
    return typeof verdict === 'object' ? [{ reference: member.reference, ...verdict, dueMs: null }] : [];
  });
  await changeMembers(db, campaign.id, changes, ['SENT', 'UNSURE']);
  return asked.length === batch ? (asked.at(-1)?.reference ?? null) : null;
}
