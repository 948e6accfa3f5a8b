import type { Meter } from '../load/meter.ts';
import type { Struck } from '../run-chaos.ts';

/** What a fault on its own must not keep from going on, and did: of all times together that the same was broken. */
export function brokenPromises(struck: readonly Struck[], meter: Meter): string[] {
  const alone = struck.flatMap(({ blow, ...time }) =>
    blow.length === 1 && blow[0] ? [{ fault: blow[0], ...time }] : [],
  );
  return [...Map.groupBy(alone, ({ fault }) => `${fault.breaks} ${fault.promised?.perMille}`)].flatMap(
    ([, times]) => {
      const promised = times[0]?.fault.promised;
      if (!promised) return [];
      const found = times.map(({ from, to }) => meter.between(from, to, promised.kinds));
      const sent = found.reduce((sum, each) => sum + each.sent, 0);
      const failed = found.reduce((sum, each) => sum + each.failed, 0);
      const reasons = found.flatMap((each) => Object.keys(each.reasons));
      return failed * 1_000 > sent * (1_000 - promised.perMille)
        ? [
            `I9: during ${[...new Set(times.map(({ fault }) => fault.name))].join(', ')} ${failed} of ${sent} requests failed (${[...new Set(reasons)].join(', ')})`,
          ]
        : [];
    },
  );
}
