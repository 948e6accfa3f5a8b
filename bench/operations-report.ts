import type { Upkeep } from './operations-upkeep.ts';
import { machine } from './report.ts';

/** What an operation took beside each number of records. */
export interface OperationTimes {
  operationId: string;
  method: string;
  path: string;
  /** Medians in milliseconds. */
  ms: number[];
  /** The status of a request that failed. */
  fault?: string | undefined;
}

/** The report as Markdown, for the terminal and for the file. */
export function writeOperationsReport({
  sizes,
  times,
  upkeep,
  whole,
  loads,
  command,
  requests,
}: {
  sizes: readonly number[];
  times: readonly OperationTimes[];
  upkeep: readonly Upkeep[];
  whole: readonly string[];
  loads: readonly number[];
  command: string;
  requests: number;
}): string {
  const ratio = ({ ms: [few = 1, many = 1] }: OperationTimes) => many / few;
  /** Less than half a millisecond is not told from noise. */
  const isDearer = (each: OperationTimes) => ratio(each) > 1.2 && (each.ms[1] ?? 0) - (each.ms[0] ?? 0) > 0.5;
  const rows = times
    .toSorted((one, other) => ratio(other) - ratio(one))
    .map((each) =>
      [
        '',
        `\`${each.method} ${each.path}\``,
        each.operationId,
        ...each.ms.map((ms) => ms.toFixed(1)),
        `${isDearer(each) ? '**' : ''}${ratio(each).toFixed(2)}${isDearer(each) ? '**' : ''}`,
        each.fault ?? '',
        '',
      ]
        .join(' | ')
        .trim(),
    );
  const count = (size = 0) => size.toLocaleString('en');
  const [few, many] = sizes;
  return [
    '# Every operation, beside few and many records',
    '',
    `One request at a time against \`services/standalone.ts\`, beside ${count(few)} and ${count(many)} records of a tenth as many people (\`bench/fill-tables.ts\`);`,
    `medians of ${requests} requests in milliseconds, after a round to warm up, in turn. Requests are those of \`test/security/authorisation/requests.ts\`: the`,
    `smallest that are allowed. ${whole.map((each) => `\`${each}\``).join(', ')} answers with everything there is and is not asked for.`,
    '',
    `Machine: ${machine()}. Load average before the requests ${loads[0]?.toFixed(1)}, after them ${loads[1]?.toFixed(1)}.`,
    '',
    `Dearer by more than 1.2 and half a millisecond: ${times.filter(isDearer).length} of ${times.length} operations.`,
    '',
    `| | operation | ${count(few)} | ${count(many)} | ratio | status, if it failed |`,
    '|---|---|---:|---:|---:|---|',
    ...rows,
    '',
    `## What takes long at ${count(many)} records`,
    '',
    '| | seconds | MB afterwards |',
    '|---|---:|---:|',
    ...upkeep.map(
      ({ what, seconds, megabytes }) => `| ${what} | ${seconds.toFixed(1)} | ${megabytes.toFixed(0)} |`,
    ),
    '',
    `To reproduce: \`${command}\` (Linux).`,
    '',
  ].join('\n');
}
