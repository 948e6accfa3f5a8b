/** Lets at most so many pieces of work of one name run at once; others wait their turn. */
export interface Turns {
  /** @param queueUp has the caller wait for its turn; by default it just waits. */
  take<T>(
    name: string,
    work: () => Promise<T>,
    queueUp?: (turn: () => Promise<void>) => Promise<void>,
  ): Promise<T>;
}

interface Queue {
  running: number;
  waiting: (() => void)[];
}

/** @param atOnce how many of one name may run at once. */
export function createTurns(atOnce: number): Turns {
  const queues = new Map<string, Queue>();
  return {
    async take(name, work, queueUp = (turn) => turn()) {
      const queue = queues.get(name) ?? { running: 0, waiting: [] };
      queues.set(name, queue);
      if (queue.running >= atOnce)
        await queueUp(() => new Promise<void>((begin) => queue.waiting.push(begin)));
      else queue.running += 1;
      try {
        return await work();
      } finally {
        const next = queue.waiting.shift();
        // The next one takes this turn over.
        if (next) next();
        else if (--queue.running === 0) queues.delete(name);
      }
    },
  };
}
