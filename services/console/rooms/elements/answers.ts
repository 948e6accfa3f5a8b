import type { Context } from 'koa';
import type { FoundElement } from '../../models/read-model.ts';
import { shortTable } from '../../pages/columns.ts';
import { dayPlot } from '../../pages/day-plot.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { readDays } from '../../people/read-stats.ts';

const days = 90;

/** Types whose answer is a decision; of the others only the valid answers are counted. */
const decided: readonly string[] = ['processing', 'conditions'];

/** How many people have a valid answer to an element, and what was decided in the last 90 days. */
export async function readAnswers(ctx: Context, tools: RoomTools, { entry: { key, type } }: FoundElement) {
  const reader = tools.reader(ctx);
  const api = tools.api(ctx);
  const [valid, stats] = await Promise.all([
    api.call('countValidAnswers', { query: { keys: [key] } }),
    decided.includes(type) ? readDays(api, tools.timeZone, days, [key]) : undefined,
  ]);
  const { subjects = 0, accepted = 0 } = valid.body.values.find((each) => each.key === key) ?? {};
  // A withdrawal answers nothing, and is counted by itself.
  const counted = (stats?.days ?? []).map(({ date, accepted: part, refused, withdrawn }) => {
    return { date, whole: part + refused - withdrawn, part, withdrawn };
  });
  const total = (name: 'whole' | 'part') => counted.reduce((sum, day) => sum + day[name], 0);
  const [whole, part] = [total('whole'), total('part')];
  const people = reader.t(valid.body.atLeast ? 'answers.peopleAtLeast' : 'answers.people', {
    count: subjects,
  });
  const accept = stats && subjects > 0 ? reader.t('answers.accept', { count: accepted }) : '';
  return {
    valid: `${people} ${accept}`.trim(),
    sentence:
      stats && reader.t('answers.period', { count: whole, share: reader.percent(part / Math.max(1, whole)) }),
    plot: whole > 0 ? dayPlot(reader, counted) : null,
    table: shortTable(reader, 'answers.title', {
      file: 'answers',
      rows: counted.filter((day) => day.whole + day.withdrawn > 0).toReversed(),
      columns: ({ number }) => [
        {
          label: reader.t('answers.day'),
          cell: ({ date }) => ({ time: reader.day(date) }),
          csv: ({ date }) => date,
        },
        number('answers.accepted', ({ part }) => part),
        number('answers.refused', ({ whole: all, part }) => all - part),
        number('answers.withdrawn', ({ withdrawn }) => withdrawn),
      ],
    }),
  };
}
