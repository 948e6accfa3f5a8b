import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { Mailbox } from '../world/mailbox.ts';
import { type Client, GaveUpError } from './client.ts';
import type { Answers } from './history.ts';

/** Callers and subjects at work. */
export interface Load {
  /** Starts no further transactions; resolves when those under way have finished. */
  end(): Promise<void>;
}

/** How many people there are, and how long each of them rests between two transactions, at most, in ms. */
export interface Crowd {
  people: number;
  restMs: number;
}

/** Starts people who go through transactions, one after the other, in all ways that there are. */
export function startLoad(
  client: Client,
  random: Random,
  { mailbox, people, restMs }: Crowd & { mailbox: Mailbox },
): Load {
  let ending = false;
  const work = async () => {
    while (!ending) {
      await random.pick(ways)(client, random, mailbox).catch(onlyIfGivenUp);
      if (restMs > 0) await wait(random.between(0, restMs));
    }
  };
  const working = Promise.all(Array.from({ length: people }, work));
  working.catch(() => {}); // Told at the end.
  return {
    async end() {
      ending = true;
      await working;
    },
  };
}

/** The history tells why; the next transaction is another one. */
function onlyIfGivenUp(error: unknown): void {
  if (!(error instanceof GaveUpError)) throw error;
}

/** Prefix of the names of all subjects. */
export const subjectPrefix = 'chaos-';

const newSubject = () => `${subjectPrefix}${randomUUID()}`;

function drawAnswers({ pick }: Random): Answers {
  return {
    'processing.001': pick(['accepted', 'refused']),
    'processing.002': pick(['accepted', 'refused']),
    'preference.001': pick(['Every week', 'Once a month', 'When a new season opens']),
  };
}

/** A way through a transaction. */
type Way = (client: Client, random: Random, mailbox: Mailbox) => Promise<unknown>;

const answer: Way = async (client, random) => {
  const known = await client.create(newSubject());
  await client.form(known, random.pick(['json', 'html']));
  await client.submit(known, drawAnswers(random), random.pick(['json', 'form']));
};

const answerTwice: Way = async (client, random) => {
  const known = await client.create(newSubject(), { isTwin: true });
  const answers = drawAnswers(random);
  await Promise.all([client.submit(known, answers, 'json'), client.submit(known, answers, 'form')]);
};

/** Two holders of one link send different answers: one of them is too late. */
const compete: Way = async (client, random) => {
  const known = await client.create(newSubject());
  const [one, other] = [
    { ...drawAnswers(random), 'processing.001': 'accepted' },
    { ...drawAnswers(random), 'processing.001': 'refused' },
  ];
  await Promise.all([client.submit(known, one, 'json'), client.submit(known, other, 'json')]);
};

/** One person answers while another cancels. */
const regret: Way = async (client, random) => {
  const known = await client.create(newSubject());
  await Promise.all([client.submit(known, drawAnswers(random), 'json'), client.cancel(known)]);
};

const cancel: Way = async (client) => {
  await client.cancel(await client.create(newSubject()));
};

const changeOfMind: Way = async (client, random) => {
  const known = await client.create(newSubject());
  await client.form(known, 'html');
  await client.submit(known, drawAnswers(random), 'form');
  // The link on the receipt is opened twice.
  const [child] = await Promise.all([client.child(known), client.child(known)]);
  await client.form(child, 'json');
  await client.submit(child, drawAnswers(random), 'json');
};

const leaveOpen: Way = async (client, random) => {
  await client.create(newSubject(), { isTwin: random.pick([true, false]) });
};

const onPaper: Way = async (client, random) => {
  await client.singleStep(newSubject(), drawAnswers(random));
};

/** How long a person waits for a mail; its server may be away. */
const mailPatienceMs = 5_000;

/** Answers with a code: it is entered, first wrongly or not at all. */
const answerWithCode: Way = async (client, random, mailbox) => {
  const subject = newSubject();
  const confirmation = random.pick(['FORM_CODE', 'EMAIL_CODE'] as const);
  const emailAddress = `${subject}@example.org`;
  const isNotified = random.pick([true, false, false, false, false]);
  const known = await client.create(subject, { confirmation, emailAddress, isNotified });
  const answers = drawAnswers(random);
  if ((await client.submitForCode(known, answers)) !== 'acknowledged') return;
  const code =
    confirmation === 'FORM_CODE'
      ? await client.shownCode(known)
      : await mailbox.waitForCode(emailAddress, mailPatienceMs);
  const next = random.pick(['confirm', 'confirm', 'guess', 'leave'] as const);
  if (code === undefined || next === 'leave') return;
  if (next === 'guess') await client.guess(known, String((Number(code) + 1) % 1_000_000).padStart(6, '0'));
  await client.confirm(known, code, answers);
};

const ways: readonly Way[] = [
  answerWithCode,
  answerWithCode,
  answerWithCode,
  answer,
  answer,
  answer,
  answerTwice,
  compete,
  regret,
  cancel,
  changeOfMind,
  leaveOpen,
  onPaper,
];
