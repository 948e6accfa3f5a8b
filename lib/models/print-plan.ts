import { compareWords, createBudget } from '#lib/text/compare-words.ts';
import type { Schemas } from './models-api.ts';
import type { AnswerCount, FolderPlan, FolderStep } from './plan-folder.ts';
import type { FileFault } from './read-folder.ts';

const marks = { CREATED: '+', CHANGED: '~', UNCHANGED: '=', ARCHIVED: '-' } as const;

/** A plan in words: each model that changes, word by word, and what follows. */
export async function printPlan({ steps, digest }: FolderPlan): Promise<string> {
  const lines: string[] = [];
  for (const each of steps) if (isShown(each)) lines.push(...(await printStep(each)));
  const count = (change: keyof typeof marks) => steps.filter(({ step }) => step.change === change).length;
  const counts = `${count('CREATED')} created, ${count('CHANGED')} changed, ${count('ARCHIVED')} archived, ${count('UNCHANGED')} unchanged`;
  return [...lines, `Plan ${digest}: ${counts}.`, ''].join('\n');
}

/** Faults, one a line, as editors and CI read them. */
export function printFaults(faults: readonly FileFault[]): string {
  return faults
    .map(({ file, line, member, detail }) => {
      const place = line === undefined ? file : `${file}:${line}`;
      return `${place}: ${member ? `${member} ` : ''}${detail}\n`;
    })
    .join('');
}

/** What stays the same has a line if the notice check has. */
function isShown({ step }: FolderStep): boolean {
  return step.change !== 'UNCHANGED' || step.notice.length > 0;
}

async function printStep({ step, answers }: FolderStep): Promise<string[]> {
  const { key, type, change, version, differences, layouts, peers, notice } = step;
  const differing: string[] = [];
  const budget = createBudget();
  for (const { member, language, before, after } of differences) {
    const label = language ? `${member} (${language})` : member;
    const parts = await compareWords(before, after, { language: language ?? 'en', budget });
    differing.push(`    ${label}: ${indent(parts ? shorten(parts) : whole(before, after))}`);
  }
  return [
    `${marks[change]} ${type} ${key}: ${change.toLowerCase()}${version ? describeVersion(version) : ''}`,
    ...differing,
    ...(answers ? [`    ${sayAnswers(answers, step)}`] : []),
    ...(layouts.length > 0 ? [`    forms: ${layouts.join(', ')}`] : []),
    ...(peers.length > 0 ? [`    peers: ${peers.join(', ')}`] : []),
    ...notice.map(sayNotice),
  ];
}

function describeVersion({
  type,
  proposed,
  because,
  reason,
  after,
  serial,
}: Schemas['PlannedVersion']): string {
  if (!after) return '';
  const why = because.length > 0 ? ` because of ${because.join(', ')}` : '';
  const other = type === proposed ? why : `; ${proposed} is proposed${why}`;
  return `, ${type} ${after} → ${serial ?? ''}${other}${reason ? ` (${reason})` : ''}`;
}

function sayAnswers(
  { count, atLeast }: AnswerCount,
  { type, change }: Pick<Schemas['ModelStep'], 'type' | 'change'>,
): string {
  const answers = `${atLeast ? 'at least ' : ''}${count} valid ${count === 1 ? 'answer' : 'answers'}`;
  const place = type === 'information' ? ' given under it' : '';
  const stop = count === 1 ? 'stops counting' : 'stop counting';
  const again = change === 'ARCHIVED' ? '' : `, and ${count === 1 ? 'is' : 'are'} asked for again`;
  return `answers: ${answers}${place} ${stop}${again}`;
}

function sayNotice({ code, detail, pointers }: Schemas['ChecklistPoint']): string {
  const places = pointers.map((pointer) => pointer.replace(/^\/data\//, '').replaceAll('/', '.'));
  return `    notice check: ${code} – ${detail} (${places.join(', ')})`;
}

const whole = (before: string, after: string) =>
  `${before === '' ? '' : `[-${before}-]`}${after === '' ? '' : `{+${after}+}`}`;

/** Words as `git diff --word-diff` writes them; of long equal texts only the ends are shown. */
function shorten(parts: readonly { op: 'same' | 'removed' | 'added'; text: string }[]): string {
  return parts
    .map(({ op, text }) => {
      if (op === 'removed') return `[-${text}-]`;
      if (op === 'added') return `{+${text}+}`;
      return text.length > 80 ? `${text.slice(0, 30)} … ${text.slice(-30)}` : text;
    })
    .join('');
}

const indent = (text: string) => text.replaceAll('\n', '\n      ');
