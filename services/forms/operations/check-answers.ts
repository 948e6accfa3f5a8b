import type { AnswerCheck, CheckedAnswer, FormsOperations } from '#lib/contracts/forms.ts';
import type { SealedPart } from '#lib/contracts/parts.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { maxSealedLength } from '#lib/federation/sealed-answers.ts';
import { type ActiveItem, checkAnswers } from '../domain/check-answers.ts';
import type { ContentVersion } from '../domain/content-version.ts';
import { formatIdentifier, formatReference } from '../domain/identifiers.ts';
import { type GivenAnswers, pointerTo, readAnswers } from '../domain/read-answers.ts';
import { type ActiveRow, markAnswered, readSerials } from '../queries/active-entries.ts';
import type { FormsContext } from './context.ts';
import { type CurrentForm, elementsOf, readForm } from './read-form.ts';
import { readFormerOfPeers } from './read-peer-sections.ts';
import { sealParts } from './seal-parts.ts';

type Input = Parameters<FormsOperations['checkAnswers']>[0];

/**
 * The internal operation `checkAnswers`. It usually runs one query. More are needed only for answers to
 * serials that are not ACTIVE, for contents that are not cached, and to mark entries that get their first
 * answers.
 */
export function createCheckAnswers(context: FormsContext): FormsOperations['checkAnswers'] {
  const { db, contents, instance } = context;
  return async function check(input: Input): Promise<AnswerCheck> {
    const given = readAnswers(input.answers, input.form);
    if (given.isTooLong) return { outcome: 'invalid', faults: given.faults };
    const current = await readForm(context, input.layout, input.languages);
    const elements = elementsOf(current);
    const result = checkAnswers(given, {
      keys: input.layout.elements,
      info: current.info,
      elements,
      peerInfos: new Map(current.peers.map(({ info }) => [info.version.host ?? '', info])),
      former: await readFormer(given, current, input),
      hidden: new Set(input.hidden),
      askedIfAnswered: new Set(
        input.peersOptional ? current.peers.flatMap((each) => [...each.elements.keys()]) : [],
      ),
      language: current.language,
      isFormPost: input.form,
      isSilent: input.isSilent ?? false,
      takesBlanks: input.takesBlanks ?? false,
    });
    if (result.outcome !== 'valid') return result;
    const { language, info } = result;
    const answers = result.answers.filter((answer) => !isOfPeer(answer));
    const unanswered = result.unanswered.filter((element) => !isOfPeer(element));
    const { subjectInfos, isAddressConfirmed, sealUntil, givenAt } = input;
    const parts = sealParts(result, current.peers, {
      leader: instance.baseUrl,
      givenAt: new Date(givenAt),
      until: new Date(sealUntil),
      subjectInfos,
      isAddressConfirmed,
    });
    const faults = sizeFaults(parts, result.answers, given);
    if (faults.length > 0) return { outcome: 'invalid', faults };
    // An entry without earlier answers was deleted meanwhile: check again without it.
    if (!(await markRows(rowsOf(answers, current)))) return check(input);
    return { outcome: 'valid', language, info, answers, unanswered, parts };
  };

  /** Marks entries as answered, so that they are never removed. @returns whether all of them still exist. */
  async function markRows(rows: readonly ActiveRow[]): Promise<boolean> {
    const unmarked = rows.flatMap(({ id, answered }) => (answered ? [] : [id]));
    return unmarked.length === 0 || (await markAnswered(db, unmarked)) === unmarked.length;
  }

  /** Versions that answers name and that are not ACTIVE, by identifier; null if too old or withdrawn. */
  async function readFormer(given: GivenAnswers, current: CurrentForm, { layout, openedAt }: Input) {
    const former = new Map<string, ContentVersion | null>();
    const active = new Map([...elementsOf(current), ...peerInformations(current)]);
    const isActive = ({ key, serial }: { key: string; serial: string }) =>
      (key === layout.info ? current.info : active.get(key))?.version.serial === serial;
    const keys = new Set([layout.info, ...layout.elements, ...active.keys()]);
    const named = [...given.elements, ...(given.shown ?? []), ...(given.info ? [given.info] : [])];
    const wanted = named.filter((identifier) => keys.has(identifier.key) && !isActive(identifier));
    if (wanted.length === 0) return former;
    const rows = await readSerials(db, wanted, openedAt);
    const versions = await contents.get(rows.flatMap(({ id, accepted }) => (accepted ? [id] : [])));
    for (const { id, type, key, serial } of rows)
      former.set(formatIdentifier(type, key, serial), versions.get(id) ?? null);
    for (const [identifier, version] of await readFormerOfPeers(context, wanted, active, openedAt))
      former.set(identifier, version);
    return former;
  }
}

/** The informations of the peers with elements in the form, by reference (`<key>@<host>`). */
function peerInformations({ peers }: CurrentForm): [string, ActiveItem][] {
  return peers.map(({ info }) => {
    const { key, host = null } = info.version;
    return [formatReference({ key, host }), info];
  });
}

/** The key of a peer's element contains a host. */
function isOfPeer({ identifier }: { identifier: string }): boolean {
  return identifier.includes('@');
}

/** For each part that is larger than its owner accepts: a fault at its longest answer. */
function sizeFaults(
  parts: readonly SealedPart[],
  answers: readonly CheckedAnswer[],
  { elements }: GivenAnswers,
): Fault[] {
  const lengthOf = ({ value }: CheckedAnswer) => value.join('').length;
  const tooLarge = parts.filter(({ sealed }) => sealed.length > maxSealedLength);
  return tooLarge.flatMap((part) => {
    const owned = answers.filter(({ identifier }) =>
      part.elements.some((element) => element.identifier === identifier),
    );
    const [longest] = owned.sort((one, other) => lengthOf(other) - lengthOf(one));
    const given = elements.find(({ identifier }) => identifier === longest?.identifier);
    const detail = 'is too long together with the other answers to this peer';
    return given ? [{ pointer: pointerTo(given.name), code: 'too-long-together', detail }] : [];
  });
}

/** The entries that the records will refer to. */
function rowsOf(answers: readonly CheckedAnswer[], { info, elements }: CurrentForm): ActiveRow[] {
  if (answers.length === 0) return [];
  return [info.row, ...answers.flatMap(({ key }) => elements.get(key)?.row ?? [])];
}
