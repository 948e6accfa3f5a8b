import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure, fieldFailure } from '../api/api-failure.ts';
import type { Schemas } from '../api/api-types.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import { type FieldSpec, fieldsFor, languageChoices, type ReadField } from '../pages/form.ts';
import { formPage } from '../pages/form-page.ts';
import type { RoomTools } from '../pages/tools.ts';
import { type Entry, entryChoices, hasVersion, hrefOf, listEntries } from './read-model.ts';

type Template = Schemas['ModelTemplate'];

/**
 * The languages that a new entry is offered, the instance's own first.
 * @param others of which some are offered; further ones are added in the editor.
 */
export async function offerLanguages(
  ctx: Context,
  tools: RoomTools,
  others: readonly string[],
): Promise<string[]> {
  const { language } = (await tools.api(ctx).call('getSystemConfig')).body;
  return [...new Set([language, ...others])];
}

/** The chosen ones of the languages that were offered, in their order; without a choice the first. */
export function chosenLanguages(ctx: Context, tools: RoomTools, offered: readonly string[]): string[] {
  const chosen = offered.filter((each) => tools.posted(ctx).languages?.includes(each));
  return chosen.length > 0 ? chosen : offered.slice(0, 1);
}

/** The languages in which this instance informs people already; of a new one its own. */
function usualLanguages(offered: readonly string[], known: readonly Entry[]): string[] {
  const used = known.find((each) => each.default) ?? known[0];
  const usual = offered.filter((each) => used?.availableLanguages.includes(each));
  return usual.length > 0 ? usual : offered.slice(0, 1);
}

/** The templates that a room offers before its form for something new. */
export async function templateCards(ctx: Context, tools: RoomTools, isOffered: (type: string) => boolean) {
  const reader = tools.reader(ctx);
  const { values } = (await tools.api(ctx).call('listTemplates')).body;
  return values
    .filter(({ type }) => isOffered(type))
    .map((template) => ({
      href: `${tools.path}/new/${encodeURIComponent(template.key)}`,
      ...textOf(reader, template),
      type: template.type === 'layout' ? '' : reader.word('elementType', template.type),
    }));
}

function textOf({ language }: ConsoleReader, { texts }: Template): Schemas['TemplateText'] {
  return texts[language] ?? Object.values(texts)[0] ?? { name: '', description: '' };
}

/** What an information says of the organisation. @see TemplateOrganisation of the contract */
const facts = {
  company: { isRequired: true, maxLength: 500, autocomplete: 'organization' },
  address: { kind: 'textarea' },
  email: { kind: 'email', isNeeded: true },
  phoneNumber: { maxLength: 64 },
  dataProtectionOfficer: { kind: 'textarea', isNeeded: true },
  supervisoryAuthority: { kind: 'textarea', isNeeded: true },
  privacyPolicyUrl: { kind: 'url', isNeeded: true },
} as const satisfies Record<keyof Schemas['TemplateOrganisation'], Partial<FieldSpec>>;
const factNames = Object.keys(facts) as (keyof typeof facts)[];

/** A page for each template: languages, name, and who is responsible. It makes drafts. */
export function templateRoutes(
  router: Router,
  tools: RoomTools,
  { isOffered }: { isOffered(type: string): boolean },
): void {
  formPage(router, tools, {
    path: '/new/:template',
    operation: 'useTemplate',
    view: 'template',
    isCreating: true,
    async ask(ctx, reader) {
      const template = await readTemplate(ctx, tools, isOffered);
      const informing = await readInformation(ctx, tools);
      const known = template.type === 'layout' ? informing : [];
      const asksFacts = template.type === 'layout' || template.type === 'information';
      const field = fieldsFor(reader, 'template');
      const languages = await templateLanguages(ctx, tools, template);
      const { name, description } = textOf(reader, template);
      const asked = [
        field('name', { isRequired: true, maxLength: 255 }),
        field('languages', { kind: 'checks', options: languageChoices(reader, languages), isNeeded: true }),
        ...(known.length > 0
          ? [field('information', { kind: 'select', isRequired: true, options: entryChoices(known) })]
          : []),
      ];
      const organisation = asksFacts ? factNames.map((fact) => factField(field, fact, known.length > 0)) : [];
      return {
        title: reader.t('template.title', { name }),
        submit: reader.t('template.create'),
        cancelUrl: `${tools.path}/new`,
        fields: [...asked, ...organisation],
        values: {
          name,
          languages: usualLanguages(languages, informing),
          information: (known.find((each) => each.default) ?? known[0])?.key ?? '',
        },
        locals: {
          text: description,
          asked: asked.map((each) => each.name),
          organisation: organisation.map((each) => each.name),
          isElsewhere: known.length > 0,
          elements: await elementNames(ctx, tools, reader, template),
        },
      };
    },
    async send(ctx, field) {
      const template = await readTemplate(ctx, tools, isOffered);
      const organisation = organisationIn(field);
      const information = field('information');
      const body = {
        languages: chosenLanguages(ctx, tools, await templateLanguages(ctx, tools, template)),
        name: field('name'),
        ...(organisation ? { organisation } : information && { information }),
      };
      return (await tools.api(ctx).call('useTemplate', { params: { key: template.key }, body })).body.values;
    },
    done: (ctx, [made]) => tools.open(ctx, `${hrefOf(tools, made?.key ?? '')}/edit`, 'templateUsed'),
  });
}

/** The languages of a template; that of the instance is the first, if it is one of them. */
async function templateLanguages(ctx: Context, tools: RoomTools, { texts }: Template): Promise<string[]> {
  const own = Object.keys(texts);
  return (await offerLanguages(ctx, tools, own)).filter((each) => own.includes(each));
}

/** @throws ApiFailure 404 for a template that the room does not offer. */
async function readTemplate(
  ctx: Context,
  tools: RoomTools,
  isOffered: (type: string) => boolean,
): Promise<Template> {
  const params = { key: String(ctx.params.template) };
  const { body } = await tools.api(ctx).call('getTemplate', { params });
  if (!isOffered(body.type)) throw new ApiFailure(404, {});
  return body;
}

/** The information of this instance, also that of a first form that is not active yet. */
export async function readInformation(ctx: Context, tools: RoomTools): Promise<Entry[]> {
  const entries = await listEntries(tools.api(ctx), { types: 'information' });
  return entries.filter((entry) => hasVersion(entry, 'ACTIVE') || hasVersion(entry, 'DRAFT'));
}

/** @param isOptional whether the organisation has an information that the form may name instead. */
function factField(field: ReturnType<typeof fieldsFor>, name: keyof typeof facts, isOptional: boolean) {
  const rest: Partial<FieldSpec> = facts[name];
  const needs = isOptional ? { isRequired: false, isNeeded: name === 'company' } : {};
  return field(name, { pointer: `/organisation/${name}`, ...rest, ...needs });
}

/** What was said of the organisation; undefined without any of it. @throws ApiFailure 422 without a name. */
function organisationIn(field: ReadField): Schemas['TemplateOrganisation'] | undefined {
  const said = factNames.map((name) => [name, field(name)] as const).filter(([, text]) => text !== '');
  if (said.length === 0) return undefined;
  const { company, ...rest } = Object.fromEntries(said);
  if (!company) throw fieldFailure('organisation/company', 'required');
  return { company, ...rest };
}

/** The names of the elements that a form of the template asks. */
async function elementNames(ctx: Context, tools: RoomTools, reader: ConsoleReader, { elements }: Template) {
  if (elements.length === 0) return [];
  const { values } = (await tools.api(ctx).call('listTemplates')).body;
  return elements.flatMap((key) => {
    const found = values.find((each) => each.key === key);
    return found ? [{ ...textOf(reader, found), type: reader.word('elementType', found.type) }] : [];
  });
}
