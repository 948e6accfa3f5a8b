import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second on every platform that Node.js runs on. */
const ticksPerSecond = 100;

/** CPU seconds, user and system, that a process alone has used with all its threads. Children are not counted. */
export function cpuSeconds(pid: number): number {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field, the program's name, stands in parentheses and may hold anything.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Memory that a process alone holds now, in MB (10⁶ bytes). */
export function residentMegabytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kibibytes) * 1024) / 1e6;
}
