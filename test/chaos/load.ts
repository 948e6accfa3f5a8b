import { randomUUID } from 'node:crypto';
import type { Client } from './client.ts';
import type { Answers } from './history.ts';
import type { Random } from './random.ts';

/** Callers and subjects at work. */
export interface Load {
  /** Lets everybody finish what they have begun, and begin nothing more. @throws Error if somebody was told what nobody may be told. */
  end(): Promise<void>;
}

/** What the names of all subjects begin with. */
export const subjectPrefix = 'chaos-';

const newSubject = () => `${subjectPrefix}${randomUUID()}`;

/** Starts so many people who go through transactions, one after the other, in all ways that there are. */
export function startLoad(client: Client, random: Random, people: number): Load {
  let ending = false;
  const work = async () => {
    while (!ending) await random.pick(ways)(client, random);
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

function drawAnswers({ pick }: Random): Answers {
  return {
    'processing.001': pick(['accepted', 'refused']),
    'processing.002': pick(['accepted', 'refused']),
    'preference.001': pick(['Every week', 'Once a month', 'When a new season opens']),
  };
}

type Way = (client: Client, random: Random) => Promise<void>;

const answer: Way = async (client, random) => {
  const known = await client.create(newSubject());
  await client.submit(known, drawAnswers(random), random.pick(['json', 'form']));
};

const answerTwice: Way = async (client, random) => {
  const known = await client.create(newSubject(), true);
  const answers = drawAnswers(random);
  await Promise.all([client.submit(known, answers, 'json'), client.submit(known, answers, 'form')]);
};

/** Two who hold the same link answer otherwise: one of them is too late. */
const compete: Way = async (client, random) => {
  const known = await client.create(newSubject());
  const [one, other] = [
    { ...drawAnswers(random), 'processing.001': 'accepted' },
    { ...drawAnswers(random), 'processing.001': 'refused' },
  ];
  const told = await Promise.all([client.submit(known, one, 'json'), client.submit(known, other, 'json')]);
  if (told.filter((each) => each === 'acknowledged').length !== 1)
    throw new Error(`of two answers ${told.join(' and ')}`);
};

const cancel: Way = async (client) => {
  await client.cancel(await client.create(newSubject()));
};

const changeOfMind: Way = async (client, random) => {
  const known = await client.create(newSubject());
  await client.submit(known, drawAnswers(random), 'form');
  const child = await client.child(known);
  await client.submit(child, drawAnswers(random), 'json');
};

const leaveOpen: Way = async (client, random) => {
  await client.create(newSubject(), random.pick([true, false]));
};

const onPaper: Way = async (client, random) => {
  await client.singleStep(newSubject(), drawAnswers(random));
};

const ways: readonly Way[] = [answer, answer, answerTwice, compete, cancel, changeOfMind, leaveOpen, onPaper];
