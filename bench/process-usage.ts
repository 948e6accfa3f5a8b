import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second on every platform that Node.js runs on. */
const ticksPerSecond = 100;

/**
 * CPU seconds, user and system, that a process alone has used with all its threads. Children are not counted.
 */
export function cpuSeconds(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** CPU seconds that a process and its children have used, also of those that have ended. */
export function cpuSecondsWithChildren(pid: number): number {
  const own = statOf(pid);
  const ended = (Number(own[13]) + Number(own[14])) / ticksPerSecond;
  const children = readdirSync('/proc')
    .map(Number)
    .filter((each) => each > 0)
    .map((each) => childSeconds(each, pid));
  return children.reduce((sum, each) => sum + each, cpuSeconds(pid) + ended);
}

/** 0 for a process that has another parent or has just ended. */
function childSeconds(pid: number, parent: number): number {
  try {
    return Number(statOf(pid)[1]) === parent ? cpuSeconds(pid) : 0;
  } catch {
    return 0;
  }
}

/** The fields of proc_pid_stat(5) from the third on. */
function statOf(pid: number): string[] {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field, the program's name, stands in parentheses and may hold anything.
  return line.slice(line.lastIndexOf(')') + 2).split(' ');
}

/**
 * Of the time in which the machine had something to do, the share that its host gave to others; call again at
 * the end. On such a machine CPU seconds are comparable, and latencies are not. @returns undefined where the
 * kernel does not count it.
 */
export function watchStolen(): () => number | undefined {
  const before = readTimes();
  return () => {
    const after = readTimes();
    if (!before || !after) return undefined;
    const [stolen, busy] = [after.stolen - before.stolen, after.busy - before.busy];
    return stolen / Math.max(1, busy + stolen);
  };
}

/** In ticks (proc_stat(5)). */
function readTimes(): { busy: number; stolen: number } | undefined {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = line
      .split(/\s+/)
      .slice(1)
      .map(Number);
    return { busy: user + nice + system + irq + softirq, stolen };
  } catch {
    return undefined;
  }
}

/** Memory that a process alone holds now, in MB (10⁶ bytes). */
export function residentMegabytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kibibytes) * 1024) / 1e6;
}
