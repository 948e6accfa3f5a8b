import type { AnswerCheck, CheckedAnswer, FormsOperations } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import { checkAnswers } from '../domain/check-answers.ts';
import type { ContentVersion } from '../domain/content-version.ts';
import { formatIdentifier } from '../domain/identifiers.ts';
import { type GivenAnswers, readAnswers } from '../domain/read-answers.ts';
import { type ActiveRow, markAnswered, readSerials } from '../queries/active-entries.ts';
import type { ContentCache } from './content-cache.ts';
import { type CurrentForm, elementsOf, type ReadForm } from './read-form.ts';
import type { ReadFormerOfPeers } from './read-peer-parts.ts';
import type { SealParts } from './seal-parts.ts';

type Input = Parameters<FormsOperations['checkAnswers']>[0];

/**
 * The internal operation `checkAnswers`: one query, a second one only for answers to other than the ACTIVE serials.
 */
export function createCheckAnswers({
  db,
  contents,
  readForm,
  readFormerOfPeers,
  sealParts,
}: {
  db: Database;
  contents: ContentCache;
  readForm: ReadForm;
  readFormerOfPeers: ReadFormerOfPeers;
  sealParts: SealParts;
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
      free: new Set(input.child ? current.peers.flatMap((peer) => [...peer.elements.keys()]) : []),
      language: current.language,
      form: input.form,
    });
    if (result.outcome !== 'valid') return result;
    const { language, info } = result;
    const answers = result.answers.filter((answer) => !isOfPeer(answer));
    const unanswered = result.unanswered.filter((element) => !isOfPeer(element));
    // An entry that nobody had answered was removed meanwhile: look again.
    if (!(await markRows(rowsOf(answers, current)))) return check(input);
    const parts = await sealParts(result, current.peers, new Date(input.sealUntil));
    return { outcome: 'valid', language, info, answers, unanswered, parts };
  };

  /** @returns whether all of them are still there. */
  async function markRows(rows: readonly ActiveRow[]): Promise<boolean> {
    const unmarked = rows.flatMap(({ id, answered }) => (answered ? [] : [id]));
    return unmarked.length === 0 || (await markAnswered(db, unmarked)) === unmarked.length;
  }

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
function isOfPeer({ identifier }: { identifier: string }): boolean {
  return identifier.includes('@');
}

/** Entries that records will name. */
function rowsOf(answers: readonly CheckedAnswer[], { info, elements }: CurrentForm): ActiveRow[] {
  if (answers.length === 0) return [];
  return [info.row, ...answers.flatMap(({ key }) => elements.get(key)?.row ?? [])];
}
