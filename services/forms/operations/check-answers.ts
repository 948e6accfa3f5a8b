import type { AnswerCheck, CheckedAnswer, FormsOperations } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { checkAnswers } from '../domain/check-answers.ts';
import type { ContentVersion } from '../domain/content-version.ts';
import { formatIdentifier } from '../domain/identifier.ts';
import { type GivenAnswers, readAnswers } from '../domain/read-answers.ts';
import { type ActiveRow, markAnswered } from '../queries/read-active.ts';
import { readSerials } from '../queries/read-contents.ts';
import type { ContentCache } from './content-cache.ts';
import { type CurrentForm, elementsOf, type ReadForm } from './read-form.ts';
import type { ReadFormerOfPeers } from './read-former-of-peers.ts';

type Input = Parameters<FormsOperations['checkAnswers']>[0];

/** The internal operation `checkAnswers`: one query, a second one only for answers to other than the ACTIVE serials. */
export function createCheckAnswers({
  db,
  contents,
  readForm,
  readFormerOfPeers,
}: {
  db: Database;
  contents: ContentCache;
  readForm: ReadForm;
  readFormerOfPeers: ReadFormerOfPeers;
}) {
  return async function check(input: Input): Promise<AnswerCheck> {
    const given = readAnswers(input.answers, input.form);
    if (given.overfull) return { outcome: 'invalid', faults: given.faults };
    const current = await readForm(input.layout, input.languages);
    const elements = elementsOf(current);
    const result = checkAnswers(given, {
      keys: input.layout.elements,
      info: current.info,
      elements,
      others: await readOthers(given, current, input),
      hidden: new Set(input.hidden),
      language: current.language,
      form: input.form,
    });
    if (result.outcome !== 'valid') return result;
    // From here they are sealed and leave by another way; until there is one they must not be taken for ours.
    if (result.answers.some(isOfPeer)) throw fail('not-available', 'Answers cannot be sent to peers yet.');
    const unmarked = rowsOf(result, current).filter(({ answered }) => !answered);
    if (unmarked.length === 0) return result;
    const marked = await markAnswered(
      db,
      unmarked.map(({ id }) => id),
    );
    // An entry that nobody had answered was removed meanwhile: look again.
    return marked === unmarked.length ? result : check(input);
  };

  /** Serials that the answers name beside the ACTIVE ones: content, or null if they are not accepted any more. */
  async function readOthers(given: GivenAnswers, current: CurrentForm, { layout, openedAt }: Input) {
    const others = new Map<string, ContentVersion | null>();
    const active = elementsOf(current);
    const isActive = ({ key, serial }: { key: string; serial: string }) =>
      (key === layout.info ? current.info : active.get(key))?.version.serial === serial;
    const keys = new Set([layout.info, ...layout.elements]);
    const named = [...given.elements, ...given.shown, ...(given.info ? [given.info] : [])];
    const wanted = named.filter((identifier) => keys.has(identifier.key) && !isActive(identifier));
    if (wanted.length === 0) return others;
    const rows = await readSerials(db, wanted, openedAt);
    const versions = await contents.get(rows.flatMap(({ id, accepted }) => (accepted ? [id] : [])));
    for (const { id, type, key, serial } of rows)
      others.set(formatIdentifier(type, key, serial), versions.get(id) ?? null);
    for (const [identifier, version] of await readFormerOfPeers(wanted, active, openedAt))
      others.set(identifier, version);
    return others;
  }
}

/** The key in an identifier is a peer's if it has a host. */
function isOfPeer({ identifier }: CheckedAnswer): boolean {
  return identifier.includes('@');
}

/** Entries that records will name. */
function rowsOf(
  { answers }: Extract<AnswerCheck, { outcome: 'valid' }>,
  { info, elements }: CurrentForm,
): ActiveRow[] {
  if (answers.length === 0) return [];
  return [info.row, ...answers.flatMap(({ key }) => elements.get(key)?.row ?? [])];
}
