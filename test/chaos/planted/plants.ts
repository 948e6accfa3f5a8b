/** A bug that is put into a copy of the code on purpose, and must be caught. */
export interface Plant {
  /** Name of the patch beside this file. */
  patch: string;
  /** What is wrong then. */
  what: string;
  /** What happens to the instance: names of faults, one after the other. */
  faults: readonly string[];
  /** How many requests are answered between two of them. */
  between?: readonly [least: number, most: number];
  /** What the checker says, among other things. */
  caught: RegExp;
  /** It needs services of their own, with Kafka. */
  distributed?: true;
}

const lost = 'reply lost after COMMIT (connection cut)';

/** At least ten; each patch applies to the code as it is, or its test fails. */
export const plants: readonly Plant[] = [
  {
    patch: 'event-outside-transaction',
    what: 'the event is written after the transaction that it tells of',
    faults: [lost],
    caught: /^I5: \S+ became COMMITTED \(version 2\) without an event/m,
  },
  {
    patch: 'history-outside-transaction',
    what: 'the history is written after the state',
    faults: [lost],
    caught: /^I4: \S+ is at version 2, and its history has 1$/m,
  },
  {
    patch: 'records-outside-transaction',
    what: 'records are written after the state',
    faults: [lost],
    caught: /^I1: \S+ was answered .* and holds \{\}/m,
  },
  {
    patch: 'cursor-instead-of-lease',
    what: 'the relay remembers how far it has come instead of what it has sent',
    // What is not noted as sent is behind it then; that one overtakes another is rare.
    faults: [lost, lost],
    caught: /^I5: \d+ events were never sent/m,
  },
  {
    patch: 'acknowledged-before-commit',
    what: 'a submit is acknowledged before it is committed',
    faults: Array(8).fill('connections to PostgreSQL cut'),
    between: [20, 60],
    caught: /^I1: the answers of \S+ were acknowledged and it is CREATED/m,
  },
  {
    patch: 'claim-missing',
    what: 'equal contexts do not find each other',
    faults: [],
    caught: /^I2: the transaction of \S+ is there twice/m,
  },
  {
    patch: 'commit-without-condition',
    what: 'a submit commits whatever has become of the transaction meanwhile',
    faults: [],
    // Somebody must have cancelled at the very moment.
    between: [800, 1_000],
    caught: /^I4: \S+ went CREATED → CANCELLED → COMMITTED/m,
  },
  {
    patch: 'same-answers-refused',
    what: 'the same answers again are not the same success',
    faults: [],
    caught: /^I1: \S+ holds answers that were refused/m,
  },
  {
    patch: 'children-without-lock',
    what: 'two who ask at once for a child get two',
    faults: [],
    caught: /^I2: the child of \S+ is there twice/m,
  },
  {
    patch: 'client-kept-after-failure',
    what: 'a failed transaction keeps its connection',
    faults: [lost, lost],
    caught: /^I9: after \d blows: In vain for 10 s/m,
  },
  {
    patch: 'connection-error-unheard',
    what: 'nobody listens to what an idle connection says',
    faults: ['connections to PostgreSQL cut'],
    caught: /^I9: accord \d*\s?(said|ended by itself)/m,
  },
  {
    patch: 'clock-of-the-process',
    what: 'deadlines go by the clock of the process instead of the database’s',
    faults: ['clock of accord +10 min'],
    caught: /^I1: a (submit|form|create) of \S+ was answered/m,
  },
  {
    patch: 'deleted-before-acknowledged',
    what: 'the relay takes rows out of the outbox before Kafka has them',
    distributed: true,
    faults: ['Kafka down'],
    caught: /^I5: \S+ became \S+ \(version \d\), and no topic carried its event/m,
  },
  {
    patch: 'failed-send-forgotten',
    what: 'the relay takes for sent what Kafka has not acknowledged',
    distributed: true,
    faults: ['Kafka down'],
    caught: /^I5: \S+ became \S+ \(version \d\), and no topic carried its event/m,
  },
  {
    patch: 'acknowledged-before-applied',
    what: 'a consumer goes on although it has not applied an event',
    distributed: true,
    faults: ['PostgreSQL paused', 'reply lost after COMMIT (connection cut)'],
    caught: /^I5: \S+ became \S+ \(version \d\), and the webhook never got its event/m,
  },
  {
    patch: 'effect-before-inbox',
    what: 'a consumer has done its work before it notes the event',
    distributed: true,
    faults: ['events carried twice and in another order'],
    caught: /^I5: the webhook got event \S+ in two deliveries/m,
  },
  {
    patch: 'poison-comes-again',
    what: 'an event that nobody can read comes again for ever',
    distributed: true,
    faults: ['poison among the events'],
    caught: /^I5: the poison \S+ is not in dead_letters/m,
  },
];
