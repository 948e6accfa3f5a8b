import { recordAction } from '#lib/audit/record-action.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { type GivenContent, readContent } from '../domain/check-content.ts';
import {
  checkLanguages,
  contentOfOrganisation,
  contentOfTemplate,
  type ElementTemplate,
  entryOfTemplate,
  type FormTemplate,
  type Organisation,
} from '../domain/fill-template.ts';
import type { Entry, ModelType } from '../domain/model.ts';
import { readActive } from '../queries/active-entries.ts';
import { readModelByKey, touchModel } from '../queries/models.ts';
import { readTemplates } from '../templates/templates.ts';
import type { Dependencies } from './model-access.ts';
import { insertNewModel } from './models.ts';
import { insertNewDraft } from './versions.ts';

/** How a template is used. */
export interface TemplateUse {
  /** The first is the main one. */
  languages: readonly string[];
  name?: string;
  /** Key of the information of a form. */
  information?: string;
  organisation?: Organisation;
}

/**
 * Creates entries with drafts: that of an element, or those of a form and its elements.
 * @returns the entry of the template first. @throws Failure `not-found`, `invalid`.
 */
export async function useTemplate(
  { db }: Pick<Dependencies, 'db'>,
  key: string,
  use: TemplateUse,
): Promise<Entry[]> {
  const { forms, information } = readTemplates();
  const form = forms.find((each) => each.key === key);
  const element = [information, ...forms.flatMap(({ elements }) => elements)].find(
    (each) => each.key === key,
  );
  const template = form ?? element;
  if (!template) throw fail('not-found', 'Template not found.');
  checkLanguages(template.texts, use.languages);
  if (use.organisation) await checkOrganisation(use.organisation);
  return db.withTransaction(async (tx) => {
    if (form) return createForm(tx, form, use);
    return [await createElement(tx, template as ElementTemplate, use, use.name)];
  });
}

/** Each text of the organisation is checked once, and not in each language. */
async function checkOrganisation(organisation: Organisation): Promise<void> {
  const faults: Fault[] = [];
  const content = { title: '…', ...contentOfOrganisation(organisation) };
  await readContent('information', content, '/organisation', faults);
  const errors = faults.map((fault) => ({
    ...fault,
    pointer: fault.pointer.replace('/dataController/', '/'),
  }));
  if (organisation.company.trim() === '') errors.push(missing('/organisation/company'));
  if (errors.length > 0) throw fail('invalid', 'The template cannot be used.', { errors });
}

const missing = (pointer: string): Fault => ({ pointer, code: 'required', detail: 'is required' });

async function createForm(tx: Queries, form: FormTemplate, use: TemplateUse): Promise<Entry[]> {
  const info = use.organisation ? undefined : await findInformation(tx, use.information);
  // Keys are numbered by type, under a lock: in one order, so that no two requests wait for each other.
  const made = new Map<string, Entry>();
  if (use.organisation) {
    const { information } = readTemplates();
    made.set(information.key, await createElement(tx, information, use));
  }
  for (const each of form.elements.toSorted((one, other) => one.type.localeCompare(other.type)))
    made.set(each.key, await createElement(tx, each, use));
  const elements = form.elements.flatMap(({ key }) => made.get(key)?.key ?? []);
  const named = info ?? made.get(readTemplates().information.key)?.key;
  const data = Object.fromEntries(
    use.languages.map((language) => [language, { type: 'layout', elements, info: named }]),
  );
  const layout = await createEntry(tx, 'layout', {
    ...entryOfTemplate(form.texts, use.languages, use.name),
    content: contentOfTemplate({ data }, use.languages),
  });
  return [layout, ...made.values()];
}

/**
 * The key of the information that a form names. One that is a draft becomes active with the form.
 * @returns undefined for the default one. @throws Failure `invalid` if there is none.
 */
async function findInformation(tx: Queries, key: string | undefined): Promise<string | undefined> {
  if (key) {
    const named = await readModelByKey(tx, key);
    if (named?.type === 'information' && named.status !== 'DELETED') return key;
    const error = { pointer: '/information', code: 'unknown-element', detail: 'is not an information' };
    throw fail('invalid', 'The template cannot be used.', { errors: [error] });
  }
  const rows = await readActive(tx, { keys: [], withDefault: true });
  if (rows.some((row) => row.type === 'information' && row.status === 'ACTIVE' && row.isDefault))
    return undefined;
  throw fail('invalid', 'The template cannot be used.', { errors: [missing('/organisation')] });
}

async function createElement(
  tx: Queries,
  template: ElementTemplate,
  { languages, organisation }: TemplateUse,
  name?: string,
): Promise<Entry> {
  const isInformation = template.type === 'information';
  if (isInformation && !organisation)
    throw fail('invalid', 'The template cannot be used.', { errors: [missing('/organisation')] });
  const more = isInformation && organisation ? contentOfOrganisation(organisation) : {};
  return createEntry(tx, template.type, {
    ...entryOfTemplate(template.texts, languages, name),
    content: contentOfTemplate(template, languages, more),
  });
}

async function createEntry(
  tx: Queries,
  type: ModelType,
  { content, ...fields }: { name?: string; description?: string; content: GivenContent },
): Promise<Entry> {
  const entry = await insertNewModel(tx, { type, ...fields });
  await insertNewDraft(tx, entry, content, 'MINOR');
  await recordAction(tx, { action: 'model.created', target: `model/${entry.id}` });
  return touchModel(tx, entry.id);
}
