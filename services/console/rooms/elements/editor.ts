import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { FieldSpec, PostedForm } from '../../pages/form.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { type ContentField, contentFields, type ElementType } from './content-fields.ts';
import { type Content, inputName, mergeContent, shownValues } from './content-values.ts';
import { type FoundElement, findElement, findVersion } from './read-element.ts';

/** The content of an element: its languages side by side, and below what means the same in all. */
export function editorRoutes(router: Router, kit: RoomKit): void {
  router.get('/:key/edit', async (ctx) => {
    const element = await findElement(ctx, kit);
    const { content, draft, etag } = await readContent(ctx, kit, element);
    const languages = Object.keys(content.data);
    await show(ctx, element, { languages, values: valuesOf(element.entry.type, content), draft, etag });
  });

  router.post('/:key/edit', async (ctx) => {
    const element = await findElement(ctx, kit);
    const posted = kit.posted(ctx);
    const { op = ['save'], draft = [''], etag = [''], language = [''] } = posted;
    const languages = [...(posted.languages ?? [])];
    const typed = { languages, values: posted, draft: draft[0] ?? '', etag: etag[0] ?? '' };
    // A change of the form's shape shows what was typed again and saves nothing.
    if (op[0] === 'add-language') {
      const added = language[0]?.trim() ?? '';
      const isNew = languageTag.test(added) && !languages.includes(added);
      return show(ctx, element, { ...typed, languages: isNew ? [...languages, added] : languages });
    }
    if (op[0]?.startsWith('remove:'))
      return show(ctx, element, {
        ...typed,
        languages: languages.filter((each) => `remove:${each}` !== op[0]),
      });
    try {
      await save(ctx, element, typed);
      kit.open(ctx, element.href, 'elementSaved');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await show(ctx, element, { ...typed, failure: error });
    }
  });

  /** Stores the draft, also if something is missing. @throws ApiFailure 412 if it was changed meanwhile. */
  async function save(ctx: Context, { entry }: FoundElement, { languages, values, draft, etag }: Typed) {
    const before = await readContent(ctx, kit, { entry });
    if (draft !== before.draft) throw new ApiFailure(412, { type: '/docs/problems/precondition-failed' });
    const body = mergeContent(before.content, contentFields[entry.type], languages, values) as never;
    const query = { incomplete: 'true' } as never;
    if (draft === '') await kit.api(ctx).call('createVersion', { params: { id: entry.id }, query, body });
    else {
      const params = { id: entry.id, vid: draft };
      await kit.api(ctx).call('updateVersion', { params, query, body, ifMatch: etag });
    }
  }

  async function show(ctx: Context, { entry, href }: Pick<FoundElement, 'entry' | 'href'>, typed: Typed) {
    if (!kit.may(ctx, 'createVersion')) throw new ApiFailure(403, {});
    const reader = kit.reader(ctx);
    const fields = contentFields[entry.type];
    const { languages, values, failure } = typed;
    const [first = 'en'] = languages;
    const groups = [...languages, '*'].map((language) => ({
      language,
      names: fields
        .filter(({ isText = false }) => isText === (language !== '*'))
        .map(({ path }) => inputName(language, path)),
    }));
    const form = kit.form(ctx, {
      action: `${href}/edit`,
      submit: reader.t('elements.saveDraft'),
      cancelUrl: href,
      fields: groups.flatMap(({ language }) =>
        fields
          .filter(({ isText = false }) => isText === (language !== '*'))
          .map((field) => fieldOf(reader, field, { language, first })),
      ),
      values,
      failure,
      hidden: { draft: typed.draft, etag: typed.etag },
    });
    await kit.page(
      ctx,
      'edit',
      {
        title: reader.t('elements.editTitle', { name: entry.name }),
        form,
        languages,
        columns: groups.slice(0, -1).map(({ language, names }) => ({
          language,
          name: reader.languageName(language),
          fields: names.map((name) => form.byName[name]),
          removeOp: languages.length > 1 ? `remove:${language}` : '',
        })),
        common: (groups.at(-1)?.names ?? []).map((name) => form.byName[name]),
      },
      failure?.status,
    );
  }
}

interface Typed {
  languages: readonly string[];
  values: PostedForm;
  /** Id of the draft that is edited; empty if it is the first. */
  draft: string;
  etag: string;
  failure?: ApiFailure;
}

const languageTag = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;

/** The draft's content, else a copy of the active one, else nothing in the instance's language. */
async function readContent(ctx: Context, kit: RoomKit, { entry }: Pick<FoundElement, 'entry'>) {
  const draft = await findVersion(ctx, kit, entry, 'DRAFT');
  const start = draft ?? (await findVersion(ctx, kit, entry, 'ACTIVE'));
  if (start) {
    const { defaultLanguage, data } = start.version;
    const content = { defaultLanguage, data: data as Content['data'] };
    return { content, draft: draft?.version.id ?? '', etag: draft?.etag ?? '' };
  }
  const { body } = await kit.api(ctx).call('getSystemConfig');
  const content: Content = { defaultLanguage: body.language, data: { [body.language]: {} } };
  return { content, draft: '', etag: '' };
}

function valuesOf(type: ElementType, { defaultLanguage, data }: Content): PostedForm {
  const values: Record<string, string[]> = {};
  for (const field of contentFields[type])
    for (const language of field.isText ? Object.keys(data) : ['*'])
      values[inputName(language, field.path)] = shownValues(
        data[language === '*' ? defaultLanguage : language],
        field,
      );
  return values;
}

/** @param place the language of the input, and the first of all. */
function fieldOf(
  reader: { t(key: string): string; word(group: string, code: string): string },
  { path, kind, isRequired, options = [] }: ContentField,
  { language, first }: { language: string; first: string },
): FieldSpec {
  const isList = kind === 'select' || kind === 'checks';
  return {
    name: inputName(language, path),
    label: reader.t(`content.${path}`),
    kind: kind === 'lines' ? 'textarea' : kind,
    ...(kind === 'lines' && { hint: reader.t('content.linesHint') }),
    ...(isList && {
      options: [
        ...(kind === 'select' && !isRequired ? [['', '–'] as const] : []),
        ...options.map((code) => [code, reader.word('option', code)] as const),
      ],
    }),
    // A draft may lack what an active version needs; the label says which members are optional.
    pointer: `/data/${language === '*' ? first : language}/${path.replaceAll('.', '/')}`,
  };
}
