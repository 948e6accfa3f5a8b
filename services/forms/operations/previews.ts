import type { FormsOperations } from '#lib/contracts/forms.ts';
import { fillGaps } from '../domain/content/fill-gaps.ts';
import { type ContentVersion, createContentVersion } from '../domain/content-version.ts';
import { readNewDrafts } from '../queries/active-entries.ts';
import type { FormsContext } from './context.ts';
import { describeForm } from './describe-form.ts';
import { createResolveLayout } from './resolve-layout.ts';

/** The operations that show a form, as if every draft of an entry without an ACTIVE version were ACTIVE. */
export function createPreviews(
  context: FormsContext,
): Pick<FormsOperations, 'resolveLayout' | 'describeForm'> {
  return {
    resolveLayout: (input) => createResolveLayout(withDrafts(context))(input),
    describeForm: (input) => describeForm(withDrafts(context), input),
  };
}

/** For one call: drafts change. */
function withDrafts(context: FormsContext): FormsContext {
  const drafts = new Map<string, ContentVersion>();
  return {
    ...context,
    async readNamed(wanted, references) {
      const { rows, peers } = await context.readNamed(wanted, references);
      const inactive = rows.filter(({ status }) => status === 'INACTIVE').map(({ id }) => id);
      const found = inactive.length > 0 ? await readNewDrafts(context.db, inactive) : [];
      const byModel = new Map(found.map(({ model, ...draft }) => [model, draft]));
      for (const { data, ...draft } of byModel.values()) {
        const filled = Object.entries(data).map(([language, content]) => [
          language,
          fillGaps(draft.type, content),
        ]);
        drafts.set(draft.id, createContentVersion({ ...draft, data: Object.fromEntries(filled) }));
      }
      return {
        peers,
        rows: rows.map((row) => {
          const draft = byModel.get(row.id);
          return draft ? { ...row, status: 'ACTIVE', version: draft.id } : row;
        }),
      };
    },
    contents: {
      async get(ids) {
        const active = await context.contents.get(ids.filter((id) => !drafts.has(id)));
        return new Map([...active, ...drafts]);
      },
    },
  };
}
