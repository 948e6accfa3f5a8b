import type { FormsOperations } from '#lib/contracts/forms.ts';
import { type ActiveItem, checkAnswers } from '../domain/check-answers.ts';
import {
  formatIdentifier,
  type Identifier,
  isModelKey,
  parseIdentifier,
  parseSerial,
} from '../domain/identifiers.ts';
import { readAnswers } from '../domain/read-answers.ts';
import { type ActiveRow, markAnswered, readSerials, readSharedActive } from '../queries/active-entries.ts';
import type { FormsContext } from './context.ts';

/** What a peer's form asked: our information and elements, not yet compared with the ACTIVE versions. */
interface Asked {
  info: Identifier;
  elements: Identifier[];
}

/** The maximum number of elements in a layout (docs/interface.md, "Limits"). */
const maxElements = 100;

/**
 * Reads the identifiers that a peer sent. Every answer must belong to an asked element, no element may be
 * asked twice, and `conditions` are not mixed with other elements (docs/interface.md, "The consent context").
 */
function readAsked(given: {
  info: string;
  elements: readonly string[];
  answers: Readonly<Record<string, unknown>>;
}): Asked | 'unknown-element' | 'invalid' {
  const names = new Set(given.elements);
  const all = given.elements.length;
  if (all === 0 || all > maxElements || !Object.keys(given.answers).every((name) => names.has(name)))
    return 'invalid';
  const info = readOwn(given.info);
  const elements = given.elements.flatMap((text) => readOwn(text) ?? []);
  if (!info || elements.length < all) return 'unknown-element';
  const types = new Set(elements.map(({ type }) => type));
  const keys = new Set(elements.map(({ key }) => key));
  return keys.size < all || (types.has('conditions') && types.size > 1) ? 'invalid' : { info, elements };
}

/** Reads the identifier of an own element, which has no host. */
function readOwn(text: string): Identifier | undefined {
  const identifier = parseIdentifier(text);
  return identifier && isModelKey(identifier.key) && parseSerial(identifier.serial) ? identifier : undefined;
}

type Check = FormsOperations['checkSubmission'];
type Refused = Extract<Awaited<ReturnType<Check>>, { outcome: 'refused' }>;

/** The asked information and elements, in the versions that the subject saw. */
type Shown = Map<string, ActiveItem & { row: ActiveRow }>;

/** Every MINOR of the ACTIVE MAJOR since this time is accepted, because the peer's copy may have been old. */
const epoch = '1970-01-01T00:00:00Z';

/**
 * The internal operation `checkSubmission`. It usually runs one query. More are needed only for serials that
 * are not ACTIVE, for contents that are not cached, and to mark entries that get their first answers.
 * Elements that are not shared with the peer count as unknown.
 */
export function createCheckSubmission({ db, contents }: FormsContext): Check {
  return async function check(input) {
    const asked = readAsked(input);
    if (typeof asked === 'string') return refused(asked);
    const shown = await readShown(input.peer, asked);
    if (typeof shown === 'string') return refused(shown);
    const { key } = asked.info;
    const info = shown.get(key);
    if (!info) return refused('unknown-element');
    const result = checkAnswers(readAnswers(input.answers, false), {
      keys: asked.elements.map((element) => element.key),
      info,
      elements: shown,
      former: new Map(),
      hidden: new Set(),
      askedIfAnswered: new Set(),
      isFormPost: false,
      language: input.language,
    });
    if (result.outcome !== 'valid') return refused('invalid');
    const named = result.answers.length === 0 ? [] : [key, ...result.answers.map((answer) => answer.key)];
    const unmarked = named.flatMap((each) => shown.get(each)?.row ?? []).filter(({ answered }) => !answered);
    const ids = unmarked.map(({ id }) => id);
    // An entry without earlier answers was deleted meanwhile: check again without it.
    if (ids.length > 0 && (await markAnswered(db, ids)) < ids.length) return check(input);
    const { language, answers, unanswered } = result;
    return { outcome: 'valid', language, info: result.info, answers, unanswered };
  };

  /** @returns the elements by key, or the reason to refuse the part. */
  async function readShown(peer: string, { info, elements }: Asked): Promise<Shown | Refused['reason']> {
    const wanted = [info, ...elements];
    const keys = wanted.map(({ key }) => key);
    const rows = new Map((await readSharedActive(db, peer, keys)).map((row) => [row.key, row]));
    const isShared = ({ type, key }: Identifier) => rows.get(key)?.type === type;
    const isInformation = (identifier: Identifier) => identifier.type === 'information';
    if (!isInformation(info) || elements.some(isInformation) || !wanted.every(isShared))
      return 'unknown-element';
    const former = wanted.filter(({ key, serial }) => serial !== activeSerial(rows.get(key)));
    const found = former.length === 0 ? [] : await readSerials(db, former, epoch);
    if (found.length < former.length) return 'unknown-element';
    if (found.some(({ accepted }) => !accepted)) return 'stale';
    return describeShown(wanted, rows, new Map(found.map(({ id, key }) => [key, id])));
  }

  async function describeShown(
    wanted: readonly Identifier[],
    rows: ReadonlyMap<string, ActiveRow>,
    former: ReadonlyMap<string, string>,
  ): Promise<Shown | Refused['reason']> {
    const versionOf = ({ key, version }: ActiveRow) => former.get(key) ?? (version as string);
    const versions = await contents.get([...rows.values()].map(versionOf));
    const shown: Shown = new Map();
    for (const { type, key, serial } of wanted) {
      const row = rows.get(key) as ActiveRow;
      const version = versions.get(versionOf(row));
      // The entry was removed meanwhile.
      if (version?.identifier !== formatIdentifier(type, key, serial)) return 'unknown-element';
      shown.set(key, { row, version, name: row.name });
    }
    return shown;
  }
}

function activeSerial(row: ActiveRow | undefined): string {
  return `${row?.major}.${row?.minor}`;
}

function refused(reason: Refused['reason']): Refused {
  return { outcome: 'refused', reason };
}
