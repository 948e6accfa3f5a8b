import { convert } from 'html-to-text';
import type { WantedModel } from '#lib/models/model-file.ts';
import {
  compareVersions,
  type Definition,
  type Expiration,
  type Module,
  type Policy,
  type Template,
} from '#lib/moving/gics/definition.ts';
import { leaveOut, type NotCarried } from '#lib/moving/not-carried.ts';
import { addDuration, longestOwnValidity, readDuration } from '#lib/text/duration.ts';

interface Options {
  language: string;
  notCarried: NotCarried;
}

/** What the file does not say, where a text is required. */
const unsaid = '–';

/** Keys of models of a domain. */
export const keyOf = {
  policy: (domain: string, name: string) => modelKey([domain, 'policy', name]),
  module: (domain: string, name: string) => modelKey([domain, 'module', name]),
  information: (domain: string, name: string) => modelKey([domain, 'information', name]),
  form: (domain: string, name: string) => modelKey([domain, 'form', name]),
};

/**
 * The documents of a domain as models. Each policy is a processing with the texts of the modules that people
 * answer for it, and its own validity. A module without policies is a notice. Each document for a consent is
 * a form of them; a module with policies is a processing that no form has, because its policies are asked.
 */
export function modelsOfDefinition(given: Definition, options: Options): WantedModel[] {
  const definition = {
    ...given,
    policies: newestOf(given.policies, 'policies', options.notCarried),
    modules: newestOf(given.modules, 'modules', options.notCarried),
  };
  const templates = newestOf(given.templates, 'documents', options.notCarried).filter(({ type }) => {
    if (type !== 'CONSENT') leaveOut(options.notCarried, `documents of type ${type}`);
    return type === 'CONSENT';
  });
  const models = { ...definition, templates, options };
  noteExpirations(models);
  return [
    ...templates.map((template) => informationOf(models, template)),
    ...definition.policies.map((policy) => policyModel(models, policy)),
    ...definition.modules.map((module) => moduleModel(models, module)),
    ...templates.map((template) => formOf(models, template)),
  ];
}

type Models = Definition & { options: Options };

/** One version of each: the newest. */
function newestOf<Each extends { name: string; version: string }>(
  items: readonly Each[],
  what: string,
  notCarried: NotCarried,
): Each[] {
  const groups = [...Map.groupBy(items, ({ name }) => name).values()];
  return groups.map((group) => {
    for (const _earlier of group.slice(1)) leaveOut(notCarried, `earlier versions of ${what}`);
    return group.toSorted((one, other) => compareVersions(other.version, one.version))[0] as Each;
  });
}

function policyModel(models: Models, policy: Policy): WantedModel {
  const { label, name, key } = policy;
  const usage = modulesOf(models, policy).map(plainTextOf).join('\n\n');
  return modelOf(models, {
    key: keyOf.policy(models.domain, name),
    type: 'processing',
    name: label,
    description: [key, policy.code && `FHIR: ${policy.code}`].filter(Boolean).join('\n'),
    content: {
      title: wordsOf(label),
      data: dataOf(policy),
      retention: { label: unsaid },
      usage: usage || dataOf(policy),
      legalBases: ['LEGAL_BASIS_CONSENT'],
      ...validityMember(validityOfPolicy(models, policy)),
    },
  });
}

const dataOf = ({ comment, label }: Policy) => comment ?? wordsOf(label);

function modulesOf({ modules }: Models, { name }: Policy): Module[] {
  return modules.filter(({ policies }) => policies.some(({ key }) => nameIn(key) === name));
}

function moduleModel(models: Models, module: Module): WantedModel {
  const { domain, policies } = models;
  const { key, name, label, comment } = module;
  const own = policies.filter((policy) => module.policies.some((each) => nameIn(each.key) === policy.name));
  const title = module.title ? oneLine(plain(module.title)) : wordsOf(label);
  const validities = own.flatMap((policy) => validityOfPolicy(models, policy) ?? []);
  return modelOf(models, {
    key: keyOf.module(domain, name),
    type: 'processing',
    name: label,
    description: [key, comment].filter(Boolean).join('\n'),
    content: {
      title,
      data: own.map(dataOf).toSorted().join('\n') || unsaid,
      retention: { label: unsaid },
      usage: (module.text && plain(module.text)) || title,
      ...(own.length === 0 ? { refusable: false } : { legalBases: ['LEGAL_BASIS_CONSENT'] }),
      ...validityMember(shortestOf(validities)),
    },
  });
}

function informationOf(models: Models, { name, label, key, title, header, footer }: Template): WantedModel {
  return modelOf(models, {
    key: keyOf.information(models.domain, name),
    type: 'information',
    name: label,
    description: key,
    content: {
      title: title ? oneLine(plain(title)) : wordsOf(label),
      ...(header && { header }),
      ...(footer && { footer }),
    },
  });
}

function formOf(models: Models, template: Template): WantedModel {
  const { domain, modules } = models;
  const { name, label, key, comment, expiration } = template;
  const elements = template.modules.flatMap((assigned) => {
    const module = modules.find((each) => each.name === nameIn(assigned.key));
    if (!module) return [];
    if (module.policies.length === 0) return [keyOf.module(domain, module.name)];
    return module.policies.map((policy) => keyOf.policy(domain, nameIn(policy.key)));
  });
  const validity = durationOf(expiration);
  return modelOf(models, {
    key: keyOf.form(domain, name),
    type: 'layout',
    name: label,
    description: [key, comment].filter(Boolean).join('\n'),
    content: {
      type: 'layout',
      info: keyOf.information(domain, name),
      elements: [...new Set(elements)],
      ...(validity && { context: { validity } }),
    },
  });
}

interface Made extends Pick<WantedModel, 'key' | 'type' | 'name'> {
  description: string;
  content: object;
}

function modelOf({ options: { language } }: Models, { content, ...model }: Made): WantedModel {
  const name = model.name.slice(0, 255);
  const data = { [language]: content };
  return { ...model, name, defaultLanguage: language, data } as WantedModel;
}

/** The shortest of the periods of the policy, of its modules and of their documents, as gICS takes it. */
function validityOfPolicy(models: Models, policy: Policy): string | undefined {
  const { templates } = models;
  const modules = modulesOf(models, policy);
  const names = new Set(modules.map(({ name }) => name));
  const inTemplates = templates.flatMap((template) => {
    const assigned = template.modules.filter(({ key }) => names.has(nameIn(key)));
    return assigned.length > 0 ? [template, ...assigned] : [];
  });
  const inModules = modules.flatMap((module) =>
    module.policies.filter(({ key }) => nameIn(key) === policy.name),
  );
  return shortestOf([...inModules, ...inTemplates].flatMap(({ expiration }) => durationOf(expiration) ?? []));
}

function durationOf({ validity }: Expiration): string | undefined {
  const read = validity === undefined ? undefined : readDuration(validity, longestOwnValidity);
  return read && 'text' in read ? read.text : undefined;
}

/** Names the rules of expiry that elements do not have. */
function noteExpirations({ modules, templates, options: { notCarried } }: Models): void {
  const assigned = [
    ...modules.flatMap(({ policies }) => policies),
    ...templates.flatMap((each) => each.modules),
  ];
  for (const { expiration } of [...assigned, ...templates]) {
    for (const name of expiration.others) leaveOut(notCarried, `rules of expiry ${name}`);
    if (expiration.validity !== undefined && durationOf(expiration) === undefined)
      leaveOut(notCarried, `periods of validity ${expiration.validity}`);
  }
}

function shortestOf(durations: readonly string[]): string | undefined {
  const start = new Date('2024-01-01');
  const lengths = durations.map((each) => [each, addDuration(start, each).getTime()] as const);
  return lengths.toSorted(([, one], [, other]) => one - other)[0]?.[0];
}

const validityMember = (validity: string | undefined) => (validity ? { validity } : {});

function plainTextOf({ title, text }: Module): string {
  return [title, text].flatMap((each) => (each ? plain(each) : [])).join('\n');
}

function plain(html: string): string {
  const heading = { options: { uppercase: false, leadingLineBreaks: 1, trailingLineBreaks: 1 } };
  const selectors = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, ...heading }));
  return convert(html, { wordwrap: false, selectors }).trim();
}

/** A name of the file for people. */
function wordsOf(label: string): string {
  return label.replaceAll('_', ' ').slice(0, 500);
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 500);

/** The name in `<domain>;<name>;<version>`. */
function nameIn(key: string): string {
  return key.split(';')[1] ?? '';
}

function modelKey(parts: readonly string[]): string {
  const text = parts.join('.').normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll('ß', 'ss');
  return text.replaceAll(/[^0-9A-Za-z_.-]+/g, '-').slice(0, 255);
}
