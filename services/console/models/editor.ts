import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Fault } from '#lib/errors/fail.ts';
import { ApiFailure } from '../api/api-failure.ts';
import type { PostedForm } from '../pages/form.ts';
import { type Conflict, type Edited, isSameEdit, type MergeRules, mergeEdits } from '../pages/merge.ts';
import { baseOf, boundEdit, conflictsIn, isOvertaken, overtaken, takeTheirs } from '../pages/merge-form.ts';
import type { RoomTools } from '../pages/tools.ts';
import type { ModelRoom } from './model-room.ts';
import { type Entry, type FoundModel, findVersion, type Version } from './read-model.ts';

/** Content by language, as the API has it; also members that the editor does not know. */
export interface Content {
  defaultLanguage: string;
  data: Record<string, Record<string, unknown>>;
}

/** What an editor of a draft shows. */
export interface DraftEdit extends Edited {
  /** Id of the draft that is edited; empty if it is the first. */
  draft: string;
  etag: string;
  /** What the editor was opened with: what differs from it was typed. */
  base: Edited;
  /** Whether the editor shows what is not saved. */
  isChanged?: boolean;
  /** Where another person has saved something else; what was typed is in `values`. */
  conflicts: readonly Conflict[];
  keptLanguages?: readonly string[];
  /** Inputs for all languages whose stored values differ between them; saving makes them the same. */
  differing?: readonly string[];
  /** Whether changes of another person were just put in. */
  isMerged?: boolean;
  failure?: ApiFailure;
  /** What bars the activation of what is saved. */
  checked?: ApiFailure;
}

/** An editor of drafts. `Edit` has what its page shows beside the draft. */
interface EditorParts<Type extends Entry['type'], Edit extends DraftEdit>
  extends Pick<ModelRoom<Type>, 'find'> {
  rules: MergeRules;
  /** The languages and inputs of stored content. */
  editedOf(type: Type, content: Content): Edited;
  /** The languages and inputs of the form that was sent. */
  typedIn(posted: PostedForm): Edited;
  /** The body of the version. Members of the stored content that the editor does not know stay. */
  bodyOf(type: Type, edit: Edit, stored: Content): Content;
  /** Carries out a button that saves nothing. @returns undefined for buttons that save. */
  change(edit: Edit, op: string, posted: PostedForm, type: Type): Edit | undefined;
  /** Inputs for all languages whose values differ between the languages of stored content. */
  differingIn?(type: Type, content: Content): string[];
  show(ctx: Context, found: FoundModel<Type>, edit: Edit): Promise<void>;
  /** Answers after the draft was saved. */
  saved(ctx: Context, found: FoundModel<Type>, sent: Sent): unknown;
  placeFaults?(failure: ApiFailure): ApiFailure;
}

/** What was sent, and what the API has stored of it. */
interface Sent {
  op: string;
  posted: PostedForm;
  stored: Content;
  /** Shows the editor again, with what is stored. */
  open(more: object): Promise<void>;
}

/** The page of an editor: changes its shape without saving, saves, merges with what others have saved. */
export function draftEditor<Type extends Entry['type'], Edit extends DraftEdit>(
  router: Router,
  tools: RoomTools,
  parts: EditorParts<Type, Edit>,
): void {
  const { find, rules, editedOf, typedIn, bodyOf, change, show, saved, placeFaults } = parts;
  const { differingIn } = parts;

  router.get('/:key/edit', async (ctx) => {
    const found = await find(ctx, tools);
    const kept = tools.kept(ctx);
    if (kept) return show(ctx, found, sentEdit(kept));
    const draft = ctx.query.check && (await findVersion(ctx, tools, found.entry, 'DRAFT'));
    const faults = draft ? await readActivationFaults(ctx, tools, found.entry, draft.version) : [];
    const checked = faults.length > 0 ? new ApiFailure(422, { errors: faults }) : undefined;
    await open(ctx, found, { checked: checked && (placeFaults?.(checked) ?? checked) });
  });

  router.post('/:key/edit', async (ctx) => {
    const found = await find(ctx, tools);
    const posted = tools.posted(ctx);
    const edit = sentEdit(posted);
    const op = posted.op?.[0] ?? 'save';
    const taken = takeTheirs(posted, op);
    if (taken) return show(ctx, found, { ...sentEdit(taken.values), conflicts: taken.conflicts });
    const changed = change(edit, op, posted, found.entry.type);
    if (changed) return show(ctx, found, changed);
    try {
      const stored = await save(ctx, found, edit);
      await saved(ctx, found, { op, posted, stored, open: (more) => open(ctx, found, more) });
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      const failure = placeFaults?.(error) ?? error;
      await show(ctx, found, isOvertaken(error) ? await merge(ctx, found, edit) : { ...edit, failure });
    }
  });

  /** The editor as it was sent. */
  function sentEdit(posted: PostedForm): Edit {
    const { languages = [] } = posted;
    const base = baseOf(posted);
    boundEdit({ languages, values: posted });
    boundEdit(base);
    const edit: DraftEdit = {
      ...typedIn(posted),
      draft: posted.draft?.[0] ?? '',
      etag: posted.etag?.[0] ?? '',
      base,
      isChanged: true,
      conflicts: conflictsIn(posted),
    };
    return edit as Edit;
  }

  /** Shows what is stored. */
  async function open(ctx: Context, found: FoundModel<Type>, more: object): Promise<void> {
    const { content, draft, etag } = await readContent(ctx, tools, found.entry);
    const base = editedOf(found.entry.type, content);
    const differing = differingIn?.(found.entry.type, content);
    const edit = { ...base, draft, etag, base, conflicts: [], differing, ...more } as DraftEdit as Edit;
    await show(ctx, found, edit);
  }

  /** Both people's changes, with a choice where they differ. Saves nothing. */
  async function merge(ctx: Context, { entry }: FoundModel<Type>, edit: Edit): Promise<Edit> {
    const { content, draft, etag } = await readContent(ctx, tools, entry);
    const theirs = editedOf(entry.type, content);
    const merged = mergeEdits({ base: edit.base, mine: edit, theirs }, rules);
    return { ...edit, ...merged, draft, etag, base: theirs, isMerged: true };
  }

  /**
   * Stores the draft, also if something is missing.
   * @returns the stored content. @throws ApiFailure 412 if another person has saved since it was opened.
   */
  async function save(ctx: Context, { entry }: FoundModel<Type>, edit: Edit): Promise<Content> {
    const { draft, etag, base } = edit;
    const before = await readContent(ctx, tools, entry);
    // Without a draft there is no ETag: the content with which the editor was opened is compared.
    const isStale = draft === '' && !isSameEdit(base, editedOf(entry.type, before.content));
    if (isStale || draft !== before.draft) throw overtaken();
    const body = bodyOf(entry.type, edit, before.content);
    const query = { incomplete: true };
    const { id } = entry;
    const stored = draft
      ? await tools.api(ctx).call('updateVersion', { params: { id, vid: draft }, query, body, ifMatch: etag })
      : await tools.api(ctx).call('createVersion', { params: { id }, query, body });
    return contentOf(stored.body);
  }
}

/** The draft's content, else a copy of the active one, else nothing in the instance's language. */
export async function readContent(ctx: Context, tools: RoomTools, entry: Entry) {
  const draft = await findVersion(ctx, tools, entry, 'DRAFT');
  const start = draft ?? (await findVersion(ctx, tools, entry, 'ACTIVE'));
  const stored = { draft: draft?.version.id ?? '', etag: draft?.etag ?? '' };
  if (start) return { content: contentOf(start.version), ...stored };
  const { language } = (await tools.api(ctx).call('getSystemConfig')).body;
  return { content: { defaultLanguage: language, data: { [language]: {} } }, ...stored };
}

/** What bars the activation of a draft here: what the API refuses, and what people would not be told. */
async function readActivationFaults(
  ctx: Context,
  tools: RoomTools,
  { id }: Entry,
  { id: vid }: Version,
): Promise<Fault[]> {
  const { faults, advice = [] } = (await tools.api(ctx).call('checkVersion', { params: { id, vid } })).body;
  return [...faults, ...advice];
}

function contentOf({ defaultLanguage, data }: Version): Content {
  return { defaultLanguage, data: data as Content['data'] };
}
