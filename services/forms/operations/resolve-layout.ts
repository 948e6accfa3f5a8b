import { LRUCache } from 'lru-cache';
import type { FormsOperations, LayoutReference, LayoutTexts } from '#lib/contracts/forms.ts';
import { type Failure, type Fault, fail } from '#lib/errors/fail.ts';
import {
  elementPointers,
  type LayoutContent,
  layoutTexts,
  readInlineLayout,
} from '../domain/content/layout.ts';
import type { ContentVersion } from '../domain/content-version.ts';
import { formatReference, isEntryId, parseReference } from '../domain/identifiers.ts';
import { contentIn } from '../domain/model.ts';
import { requireFresh, requireInformation } from '../domain/peer-entry.ts';
import {
  findNotification,
  type LayoutPointers,
  namedByPeer,
  resolveLayout,
  themeKey,
} from '../domain/resolve-layout.ts';
import type { ActiveRow } from '../queries/active-entries.ts';
import type { NamedRows } from '../queries/read-peers.ts';
import type { FormsContext } from './context.ts';
import { presentActive } from './read-form.ts';

/** A layout whose content is read and whose references are not resolved yet. */
interface Candidate {
  content: LayoutContent;
  texts: Record<string, LayoutTexts>;
  pointers: LayoutPointers;
  id?: string;
}

/** Models that a context names beside its layout. */
type Wanted = Pick<LayoutReference, 'theme' | 'notification'>;

type Resolved = Awaited<ReturnType<FormsOperations['resolveLayout']>>;

/**
 * The internal operation `resolveLayout`. It runs one query, and a second one when a saved layout has a new
 * version.
 */
export function createResolveLayout(context: FormsContext): FormsOperations['resolveLayout'] {
  const { contents, staleDays } = context;
  /**
   * Saved layouts as they were last resolved. Their references are read together with the layout, and again
   * if it has changed.
   */
  const guesses = new LRUCache<string, LayoutContent>({ max: 1_000 });

  return async ({ layout, layoutData, ...wanted }) => {
    if ((layout === undefined) === (layoutData === undefined))
      throw fail('layout-conflict', 'Exactly one of layout and layoutData must be set.', {
        errors: [
          { pointer: '/layout', code: 'layout-conflict', detail: 'one of layout and layoutData must be set' },
        ],
      });
    if (layout !== undefined) return resolveSaved(layout, wanted);
    const candidate = readInline(layoutData);
    return resolve(candidate, await find(candidate.content, wanted), wanted);
  };

  async function resolveSaved(reference: string, wanted: Wanted): Promise<Resolved> {
    const guess = guesses.get(reference);
    const found = await find(guess, wanted, reference);
    const candidate = await readSaved(reference, found.rows);
    if (candidate.content === guess) return resolve(candidate, found, wanted);
    guesses.set(reference, candidate.content);
    return resolve(candidate, await find(candidate.content, wanted), wanted);
  }

  function find(content: LayoutContent | undefined, wanted: Wanted, layout?: string): Promise<NamedRows> {
    const references = content?.elements.flatMap((text) => parseReference(text) ?? []) ?? [];
    return context.readNamed(wantedBy(content, wanted, layout), references);
  }

  function resolve(
    { content, texts, pointers, id }: Candidate,
    found: NamedRows,
    { theme, notification }: Wanted,
  ): Resolved {
    const { layout, faults } = resolveLayout(
      content,
      [...found.rows, ...found.peers.map(namedByPeer)],
      pointers,
    );
    const mail = notification === undefined ? undefined : findNotification(notification, found.rows);
    if (notification !== undefined && mail === undefined)
      faults.push({
        pointer: '/notification',
        code: 'unknown-element',
        detail: `${notification} is not an ACTIVE email of this instance`,
      });
    if (faults.length > 0) throw failOf(faults);
    const used = new Set([layout.info, ...layout.elements]);
    const needed = found.peers.filter((row) => used.has(formatReference(row)));
    requireFresh(needed, staleDays);
    requireInformation(needed, found.peers);
    const wantedTheme = theme === undefined ? undefined : themeKey(theme, found.rows);
    return {
      layout: {
        ...(id && { id }),
        ...layout,
        ...(wantedTheme && { theme: wantedTheme }),
        ...(mail && { notification: mail }),
        texts,
      },
      active: presentActive(
        found.rows.filter(({ key }) => used.has(key)),
        needed,
      ),
      ...(content.public && { public: content.public }),
      ...(content.context && { context: content.context }),
    };
  }

  async function readSaved(reference: string, rows: ActiveRow[]): Promise<Candidate> {
    const row = rows.find(
      ({ type, key, id }) => type === 'layout' && (key === reference || id === reference),
    );
    const version = row?.version ? (await contents.get([row.version])).get(row.version) : undefined;
    if (!row || !version)
      throw failOf([
        {
          pointer: '/layout',
          code: 'unknown-element',
          detail: `${reference} is not an ACTIVE layout of this instance`,
        },
      ]);
    return { ...savedLayout(version), id: row.id };
  }
}

/** Versions are shared between requests and never change. */
const known = new WeakMap<ContentVersion, Candidate>();

function savedLayout(version: ContentVersion): Candidate {
  let candidate = known.get(version);
  if (!candidate) {
    const { data } = version;
    const content = contentIn<LayoutContent>(data, version.defaultLanguage);
    const texts: Record<string, LayoutTexts> = { '*': textsOf(content) };
    for (const language of version.languages) texts[language] = textsOf(contentIn(data, language));
    const elements = content.elements.map(() => '/layout');
    candidate = { content, texts, pointers: { info: '/layout', elements } };
    known.set(version, candidate);
  }
  return candidate;
}

function readInline(layoutData: unknown): Candidate {
  const faults: Fault[] = [];
  const content = readInlineLayout(layoutData, '/layoutData', faults) as LayoutContent | undefined;
  if (!content && faults.length === 0)
    faults.push({ pointer: '/layoutData', code: 'required', detail: 'must be a layout' });
  if (!content || faults.length > 0) throw failOf(faults);
  const pointers = { info: '/layoutData/info', elements: elementPointers(layoutData, '/layoutData') };
  return { content, texts: { '*': textsOf(content) }, pointers };
}

function wantedBy(content: LayoutContent | undefined, { theme, notification }: Wanted, layout?: string) {
  const byKeyOrId = [theme, notification, content?.theme, content?.notification, layout].filter(
    (each) => each !== undefined,
  );
  return {
    keys: [...byKeyOrId, ...(content?.info ? [content.info] : []), ...(content?.elements ?? [])],
    ids: byKeyOrId.filter(isEntryId),
    withDefault: content?.info === undefined,
  };
}

function textsOf(content: LayoutContent): LayoutTexts {
  return Object.fromEntries(
    layoutTexts.flatMap((name) => (content[name] === undefined ? [] : [[name, content[name]]])),
  );
}

/** The first fault with a problem code of its own decides the problem. */
function failOf(faults: Fault[]): Failure {
  const has = (code: string) => faults.some((fault) => fault.code === code);
  if (has('unknown-element'))
    return fail('unknown-element', 'The layout refers to unknown or inactive models.', { errors: faults });
  if (has('layout-conflict'))
    return fail('layout-conflict', 'The layout has conflicting members.', { errors: faults });
  return fail('invalid', 'The layout is not valid.', { errors: faults });
}
