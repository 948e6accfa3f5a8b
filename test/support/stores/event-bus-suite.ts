import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { type DeadLetter, PoisonError } from '#lib/events/dead-letters.ts';
import type { AccordEvent, EventBus, OutboundEvent, Reader } from '#lib/events/event-bus.ts';
import { currentRequestId } from '#lib/observability/logger.ts';
import { keyRevoked, outbound, sampleEvent } from '../samples/sample-events.ts';

/** Publishes as the relay does: what was not acknowledged is sent again, unless that is permanent. */
export async function publishAll(bus: EventBus, events: readonly OutboundEvent[]): Promise<void> {
  let left = [...events];
  while (left.length > 0) {
    const again = new Set((await bus.publish(left)).filter((each) => !each.permanent).map(({ id }) => id));
    left = left.filter(({ event }) => again.has(event.id));
  }
}

/** A reader of a name of its own, and what it has put aside. */
export function testReader({
  shared = true,
  name = `test-${randomUUID()}`,
} = {}): Reader & { parked: DeadLetter[] } {
  const parked: DeadLetter[] = [];
  return { name, shared, park: async (letter) => void parked.push(letter), onGap: () => {}, parked };
}

/**
 * What a reader of events may rely on, whichever adapter carries them. @param makeBus makes the bus of a
 * process that has not started.
 */
export function describeEventBus(carrier: string, makeBus: () => EventBus): void {
  const buses: EventBus[] = [];
  afterEach(async () => void (await Promise.all(buses.splice(0).map((bus) => bus.stop()))));

  async function running(prepare: (bus: EventBus) => void): Promise<EventBus> {
    const bus = makeBus();
    buses.push(bus);
    prepare(bus);
    bus.start();
    await bus.joined();
    return bus;
  }

  /** Readers of a broker's topic also see what other tests have sent. */
  const collect = (into: AccordEvent[], wanted: readonly OutboundEvent[]) => async (event: AccordEvent) => {
    if (wanted.some((each) => each.event.id === event.id)) into.push(event);
  };

  describe(`events carried ${carrier}`, () => {
    test('reach every reader of their topic, and no reader of another', async () => {
      const sent = [outbound(), outbound(), keyRevoked()];
      const [one, other, keys]: AccordEvent[][] = [[], [], []];
      const bus = await running((made) => {
        made.subscribe('accord.consents', testReader(), collect(one as AccordEvent[], sent));
        made.subscribe('accord.consents', testReader(), collect(other as AccordEvent[], sent));
        made.subscribe('accord.keys', testReader({ shared: false }), collect(keys as AccordEvent[], sent));
      });
      await publishAll(bus, sent);
      await expect.poll(() => [one?.length, other?.length, keys?.length]).toEqual([2, 2, 1]);
      expect(keys).toEqual([sent[2]?.event]);
    });

    test('arrive unchanged, and are applied under the id of the request that caused them', async () => {
      const sent = [outbound(sampleEvent({ requestid: 'request-0123456789' }))];
      const seen: { event: AccordEvent; request: string | undefined }[] = [];
      const bus = await running((made) =>
        made.subscribe('accord.consents', testReader(), async (event) => {
          if (event.id === sent[0]?.event.id) seen.push({ event, request: currentRequestId() });
        }),
      );
      await publishAll(bus, sent);
      await expect.poll(() => seen).toEqual([{ event: sent[0]?.event, request: 'request-0123456789' }]);
    });

    test.each([
      ['a fault of the database', () => new Error('no connection')],
      ['a SyntaxError', () => new SyntaxError('x')],
      ['a TypeError', () => new TypeError('x')],
      ['a RangeError', () => new RangeError('x')],
      ['a ReferenceError', () => new ReferenceError('x')],
    ])('come again to a reader that failed with %s, and the next one follows', async (_what, fault) => {
      const sent = [outbound(), outbound()];
      const applied: AccordEvent[] = [];
      let faults = 3;
      const reader = testReader();
      const bus = await running((made) =>
        made.subscribe('accord.consents', reader, async (event) => {
          if (event.id === sent[0]?.event.id && faults > 0) {
            faults -= 1;
            throw fault();
          }
          await collect(applied, sent)(event);
        }),
      );
      await publishAll(bus, sent);
      const ids = () => new Set(applied.map(({ id }) => id));
      await expect.poll(ids, { timeout: 10_000 }).toEqual(new Set(sent.map(({ event }) => event.id)));
      expect(reader.parked).toEqual([]);
    });

    test('become dead letters, with ids only, if a reader finds them invalid, and the next one is applied', async () => {
      const bad = sampleEvent();
      const sent = [outbound(bad), outbound()];
      const applied: AccordEvent[] = [];
      const reader = testReader();
      const bus = await running((made) =>
        made.subscribe('accord.consents', reader, async (event) => {
          if (event.id === bad.id) throw new PoisonError('a version that nobody knows');
          await collect(applied, sent)(event);
        }),
      );
      await publishAll(bus, sent);
      await expect.poll(() => applied).toEqual([sent[1]?.event]);
      const { id, type, subject } = bad;
      expect(reader.parked).toEqual([
        {
          consumer: reader.name,
          topic: 'accord.consents',
          place: expect.any(String),
          eventId: id,
          type,
          subject,
          reason: 'a version that nobody knows',
        },
      ]);
    });

    test('are delivered again if they cannot be stored as dead letters', async () => {
      const sent = [outbound()];
      const reader = testReader();
      let faults = 2;
      const park = async (letter: DeadLetter) => {
        faults -= 1;
        if (faults >= 0) throw new Error('no connection');
        await reader.park(letter);
      };
      const bus = await running((made) =>
        made.subscribe('accord.consents', { ...reader, park }, async (event) => {
          if (event.id === sent[0]?.event.id) throw new PoisonError('poison');
        }),
      );
      await publishAll(bus, sent);
      await expect.poll(() => reader.parked.length, { timeout: 10_000 }).toBe(1);
    });

    const yesterday = new Date(Date.now() - 25 * 3_600_000).toISOString();
    test.each([
      ['of a type that the contract does not know', { type: 'io.accord.consent.created.v9' }],
      ['with more than the contract allows', { data: { ...sampleEvent().data, answer: 'yes' } }],
      ['without a subject', { subject: '' }],
    ])(
      'are refused %s, for good when no newer release can be at work any more, and the others go',
      async (_what, changes) => {
        const [young, old] = [sampleEvent(changes), sampleEvent({ ...changes, time: yesterday })];
        // Each under a key of its own.
        const sent = [outbound(), outbound(young), outbound(old), outbound()].map((each) => ({
          ...each,
          key: each.event.id,
        }));
        const applied: AccordEvent[] = [];
        const bus = await running((made) =>
          made.subscribe('accord.consents', testReader(), collect(applied, sent)),
        );
        const unsent = await bus.publish(sent);
        expect(new Map(unsent.map(({ id, permanent }) => [id, permanent]))).toEqual(
          new Map([
            [young.id, false],
            [old.id, true],
          ]),
        );
        expect(bus.pausedTopics()).toEqual([]);
        await expect.poll(() => applied.length).toBe(2);
        expect(applied.map(({ id }) => id)).not.toContain(young.id);
      },
    );

    test('wait for an earlier one with the same key that was refused, and no others do', async () => {
      const refused = { ...sampleEvent(), type: 'io.accord.consent.created.v9' };
      const [waiting, other] = [sampleEvent(), sampleEvent()];
      const sent = [outbound(refused), outbound(waiting), { ...outbound(other), key: 'another' }];
      const applied: AccordEvent[] = [];
      const bus = await running((made) =>
        made.subscribe('accord.consents', testReader(), collect(applied, sent)),
      );
      const unsent = await bus.publish(sent);
      expect(unsent).toMatchObject([
        { id: refused.id, permanent: false },
        { id: waiting.id, permanent: false },
      ]);
      await expect.poll(() => applied).toEqual([other]);
    });

    test('larger than 16 KiB are refused permanently; the others are published', async () => {
      const broken = sampleEvent({ source: `https://consent.example.org/${'x'.repeat(17_000)}` });
      const sent = [outbound(), outbound(broken), outbound()];
      const applied: AccordEvent[] = [];
      const bus = await running((made) =>
        made.subscribe('accord.consents', testReader(), collect(applied, sent)),
      );
      expect(await bus.publish(sent)).toMatchObject([{ id: broken.id, permanent: true }]);
      await expect.poll(() => applied.length).toBe(2);
      expect(applied.map(({ id }) => id)).not.toContain(broken.id);
    });

    test('are not lost when reading stops: unapplied events are not acknowledged, or the next process receives them', async () => {
      const sent = Array.from({ length: 20 }, () => outbound());
      const applied = new Set<string>();
      const reader = testReader();
      let release = () => {};
      const gate = new Promise<void>((done) => {
        release = done;
      });
      const handler = async (event: AccordEvent) => {
        if (!sent.some((each) => each.event.id === event.id)) return;
        await gate;
        applied.add(event.id);
      };
      const first = await running((made) => made.subscribe('accord.consents', reader, handler));
      const publishing = first.publish(sent);
      const stopping = first.stopReading();
      release();
      await stopping;
      const afterStop = applied.size;
      const unsent = new Set((await publishing).map(({ id }) => id));
      expect(applied.size).toBe(afterStop);
      const next = await running((made) => made.subscribe('accord.consents', reader, handler));
      await publishAll(
        next,
        sent.filter(({ event }) => unsent.has(event.id)),
      );
      await expect.poll(() => applied.size, { timeout: 10_000 }).toBe(sent.length);
    });
  });
}
