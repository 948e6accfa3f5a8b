import { Counter, type Registry } from 'prom-client';

/** What became of parts of answers that peers sent. Never which peer. */
export interface SubmissionMetrics {
  /** Something was said of a part for the first time, or refused because it came before with other content. */
  judged(said: { verdict: string; reason?: string | null }): void;
}

export function createSubmissionMetrics(registers: Registry[]): SubmissionMetrics {
  const verdicts = new Counter({
    name: 'accord_submissions_total',
    help: 'Parts of answers that came from peers, by what was said of them.',
    labelNames: ['verdict', 'reason'],
    registers,
  });
  return { judged: ({ verdict, reason }) => verdicts.inc({ verdict, reason: reason ?? '' }) };
}
