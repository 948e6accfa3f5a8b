import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterVerdict,
  type NoticeState,
  type Progress,
  type ReportedVerdict,
  whenDue,
} from '../../services/transactions/sent-parts/notice.ts';

type Verdict = ReportedVerdict['verdict'];
type About = ReportedVerdict['about'];

const hour = 3_600_000;
const start = new Date('2026-01-01T00:00:00Z');
const atHour = (hours: number) => new Date(start.getTime() + hours * hour);
const hoursOf = (time: Date | null) => time && (time.getTime() - start.getTime()) / hour;

const queued: Progress = {
  state: 'QUEUED',
  outcome: null,
  since: start,
  createdAt: start,
  dueAt: atHour(72),
};
const inState = (state: NoticeState): Progress => ({ ...queued, state, since: atHour(80) });

/** What happens to a notice until it is not due any more, each line with the hour. */
function course(verdicts: { at: number; about?: About; verdict: Verdict }[]): string[] {
  const left = [...verdicts];
  const lines: string[] = [];
  for (let notice = queued; ; ) {
    const next = left[0];
    const due = hoursOf(notice.dueAt);
    if (!next && due === null) return lines;
    if (next && (due === null || next.at <= due)) {
      left.shift();
      notice = afterVerdict(notice, { about: 'erasure', ...next }, atHour(next.at));
      lines.push(`${next.at} ${next.verdict}: ${notice.state}`);
    } else {
      notice = whenDue(notice, atHour(due as number));
      lines.push(`${due} ${notice.dueAt ? 'asked' : 'not asked again'}: ${notice.state}`);
    }
  }
}

describe('what a peer knows of a withdrawal or an erasure', () => {
  it('becomes what its verdict says, and stays when it is acknowledged', () => {
    const states = (['QUEUED', 'DELIVERED', 'OVERDUE', 'FAILED', 'UNSUPPORTED', 'ACKNOWLEDGED'] as const).map(
      (state) => [
        state,
        ...(['done', 'refused', 'noted', 'expired', 'unsupported'] as const).map(
          (verdict) => afterVerdict(inState(state), { about: 'erasure', verdict }, atHour(90)).state,
        ),
      ],
    );
    expect(states).toEqual([
      ['QUEUED', 'ACKNOWLEDGED', 'ACKNOWLEDGED', 'DELIVERED', 'FAILED', 'UNSUPPORTED'],
      // An owner that has noted a request is asked until it has finished.
      ['DELIVERED', 'ACKNOWLEDGED', 'ACKNOWLEDGED', 'DELIVERED', 'DELIVERED', 'UNSUPPORTED'],
      ['OVERDUE', 'ACKNOWLEDGED', 'ACKNOWLEDGED', 'DELIVERED', 'FAILED', 'UNSUPPORTED'],
      ['FAILED', 'ACKNOWLEDGED', 'ACKNOWLEDGED', 'DELIVERED', 'FAILED', 'UNSUPPORTED'],
      ['UNSUPPORTED', 'ACKNOWLEDGED', 'ACKNOWLEDGED', 'DELIVERED', 'FAILED', 'UNSUPPORTED'],
      ['ACKNOWLEDGED', 'ACKNOWLEDGED', 'ACKNOWLEDGED', 'ACKNOWLEDGED', 'ACKNOWLEDGED', 'ACKNOWLEDGED'],
    ]);
  });

  it('says of an erasure whether the part is erased or kept', () => {
    const outcome = (about: About, verdict: Verdict) =>
      afterVerdict(queued, { about, verdict }, atHour(1)).outcome;
    expect(outcome('erasure', 'done')).toBe('done');
    expect(outcome('erasure', 'refused')).toBe('kept');
    expect(outcome('erasure', 'noted')).toBeNull();
    expect(outcome('withdrawal', 'done')).toBeNull();
  });

  it('is OVERDUE after 72 hours; the peer is asked every 72 hours for 40 days', () => {
    const lines = course([]);
    expect(lines.slice(0, 3)).toEqual(['72 asked: OVERDUE', '144 asked: OVERDUE', '216 asked: OVERDUE']);
    expect(lines.slice(-2)).toEqual(['936 asked: OVERDUE', '1008 not asked again: OVERDUE']);
  });

  it('is FAILED when the request was not acknowledged in 30 days, and nothing is asked after it', () => {
    expect(course([{ at: 720, verdict: 'expired' }]).slice(-2)).toEqual([
      '648 asked: OVERDUE',
      '720 expired: FAILED',
    ]);
  });

  it('is asked for daily when it was noted, and OVERDUE after 40 days; an acknowledgement may still follow', () => {
    const lines = course([
      { at: 10, verdict: 'noted' },
      { at: 730, verdict: 'expired' },
      { at: 1_200, verdict: 'expired' },
      { at: 1_201, verdict: 'done' },
    ]);
    expect(lines.slice(0, 3)).toEqual(['10 noted: DELIVERED', '34 asked: DELIVERED', '58 asked: DELIVERED']);
    expect(lines).toContain('730 expired: DELIVERED');
    expect(lines.slice(-3)).toEqual([
      '970 not asked again: OVERDUE',
      '1200 expired: OVERDUE',
      '1201 done: ACKNOWLEDGED',
    ]);
  });

  it('in whatever order verdicts come: no request after 40 days, and the last state since it was entered', () => {
    const verdict = fc.record({
      at: fc.integer({ min: 0, max: 2_000 }),
      about: fc.constantFrom<About>('withdrawal', 'erasure'),
      verdict: fc.constantFrom<Verdict>('done', 'refused', 'noted', 'expired', 'unsupported'),
    });
    fc.assert(
      fc.property(fc.array(verdict, { maxLength: 8 }), (verdicts) => {
        const lines = course(verdicts.toSorted((one, other) => one.at - other.at));
        for (const line of lines.filter((each) => each.includes(' asked:')))
          expect(Number(line.split(' ')[0])).toBeLessThan(40 * 24);
        const acknowledged = lines.findIndex((line) => line.endsWith('ACKNOWLEDGED'));
        if (acknowledged >= 0)
          for (const line of lines.slice(acknowledged)) expect(line).toMatch(/: ACKNOWLEDGED$/);
      }),
    );
  });
});
