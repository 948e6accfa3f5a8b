import type Router from '@koa/router';
import type { Context } from 'koa';
import { type ApiFailure, fieldFailure, unlessMissing } from '../../api/api-failure.ts';
import { withQuery } from '../../pages/filters.ts';
import { type FieldSpec, type FormInput, fieldsFor } from '../../pages/form.ts';
import { fieldReader, orShowAgain } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { subjectCalled } from '../../people/find-people.ts';
import { listedKinds, type Named } from './resolve-names.ts';

/**
 * The form that finds lines: by the names of the actor and of the target, and by what was done.
 * @param given.fields those that stand in the URL as they are. @param given.values what is shown now.
 */
export function findForm(
  ctx: Context,
  tools: RoomTools,
  {
    fields,
    values,
    failure,
  }: { fields: readonly FieldSpec[]; values: FormInput['values']; failure: ApiFailure | undefined },
) {
  const reader = tools.reader(ctx);
  const field = fieldsFor(reader, 'audit');
  return tools.form(ctx, {
    action: `${tools.path}/find`,
    submit: reader.t('audit.find'),
    tone: 'plain',
    fields: [field('who'), field('about'), ...fields].map((each) => ({ ...each, isNeeded: true })),
    values: failure ? tools.posted(ctx) : values,
    failure,
  });
}

/**
 * A name is sent as a form, so that it is in no URL: the page that follows is found by ids.
 * @param show shows the page again, with the fault.
 */
export function findRoutes(
  router: Router,
  tools: RoomTools,
  show: (ctx: Context, failure?: ApiFailure) => Promise<void>,
): void {
  router.get('/find', (ctx) => tools.open(ctx, tools.path));
  router.post(
    '/find',
    orShowAgain(show, async (ctx) => {
      const field = fieldReader(ctx, tools);
      const [who, about] = [field('who'), field('about')];
      const actor = who && (await findListed(ctx, tools, who, ['account', 'key']));
      if (who && !actor) throw fieldFailure('who', 'no-such-name');
      const target = about && (await findTarget(ctx, tools, about));
      if (about && !target) throw fieldFailure('about', 'no-such-name');
      const rest = Object.fromEntries(keptFilters.map((name) => [name, field(name)]));
      const query = { ...rest, actor: actor ? actor.split('/')[1] : undefined, ...(target || undefined) };
      tools.open(ctx, withQuery(tools.path, query));
    }),
  );
}

/** Filters that are in the URL as they were chosen. */
const keptFilters = ['kind', 'area', 'action', 'after', 'before'] as const;

const targetPattern = /^[a-z-]+\/[\w-]+$/;
const transactionPattern = /^[1-9A-HJ-NP-Za-km-z]{22}$/;

/** @returns the filter of the page; `s` is the sealed name of a person, which the page shows. */
async function findTarget(ctx: Context, tools: RoomTools, text: string) {
  if (targetPattern.test(text)) return { target: text };
  const api = tools.api(ctx);
  const byName = (name: string) => unlessMissing(api.call('getSubject', { params: { name } }));
  const person = (await byName(text)) ?? (await byName((await subjectCalled(ctx, tools, text)) ?? text));
  if (person) return { target: `subject/${person.body.id}`, s: tools.names.seal(person.body.name) };
  const { body: models } = await api.call('listModels', { query: { keyword: text, size: 200 } });
  const model = models.values.find(({ key, name }) => key === text || isSame(name, text));
  if (model) return { target: `model/${model.id}` };
  const listed = await findListed(ctx, tools, text);
  if (listed) return { target: listed };
  return transactionPattern.test(text) ? { target: `transaction/${text}` } : undefined;
}

/** @returns `<kind>/<id>` of what has this name, or this id. */
async function findListed(
  ctx: Context,
  tools: RoomTools,
  text: string,
  kinds: readonly string[] = listedKinds.map(({ kind }) => kind),
): Promise<string | undefined> {
  const lists = await Promise.all(
    listedKinds
      .filter(({ kind }) => kinds.includes(kind))
      .map(async ({ kind, operation }) => {
        const { rows } = await tools.api(ctx).list(operation, { page: { limit: 200 } });
        return rows
          .filter(({ id, name }) => id === text || isSame(name, text))
          .map(({ id }) => `${kind}/${id}`);
      }),
  );
  return lists.flat()[0];
}

function isSame(one: string, other: string): boolean {
  return one.localeCompare(other, undefined, { sensitivity: 'base' }) === 0;
}

/** The name of the person whose lines are shown, if the page was found by it. */
export function namedPerson(
  tools: RoomTools,
  { target, s }: Readonly<Record<string, string>>,
): [string, Named][] {
  const name = s && tools.names.open(s);
  return target && name ? [[target, { name, href: `/console/subjects/${s}` }]] : [];
}
