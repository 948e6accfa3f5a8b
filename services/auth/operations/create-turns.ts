/** Lets at most so many pieces of work of one name run at once; others wait their turn. */
export interface Turns {
  take<T>(name: string, work: () => Promise<T>): Promise<T>;
}

interface Queue {
  running: number;
  waiting: (() => void)[];
}

/** @param atOnce how many of one name may run at once. */
export function createTurns(atOnce: number): Turns {
  const queues = new Map<string, Queue>();
  return {
    async take(name, work) {
      const queue = queues.get(name) ?? { running: 0, waiting: [] };
      queues.set(name, queue);
      if (queue.running >= atOnce) await new Promise<void>((begin) => queue.waiting.push(begin));
      else queue.running += 1;
      try {
        return await work();
      } finally {
        const next = queue.waiting.shift();
        // Whoever is next takes this place over.
        if (next) next();
        else if (--queue.running === 0) queues.delete(name);
      }
    },
  };
}
