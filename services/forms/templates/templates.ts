import { readdirSync, readFileSync } from 'node:fs';
import { keepYaml } from '#lib/cache/keep-yaml.ts';
import type { ElementTemplate, FormTemplate } from '../domain/fill-template.ts';

/** The templates of this folder; each file has one of a form with its elements, or the information. */
export interface Templates {
  forms: readonly FormTemplate[];
  information: ElementTemplate;
}

let templates: Templates | undefined;

/** All templates. Read on first use, because most processes never need them. */
export function readTemplates(): Templates {
  templates ??= readFiles();
  return templates;
}

/** The order in which people see them: what most organisations ask is first. */
const order = ['newsletter', 'sms-reminders', 'photographs', 'doctor', 'research', 'school-outing'];

function readFiles(): Templates {
  const files = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.yaml'));
  const read = keepYaml<FormTemplate | ElementTemplate>(
    'templates',
    files.map((name) => readFileSync(new URL(name, import.meta.url), 'utf8')),
  );
  const forms = read.filter((each): each is FormTemplate => 'elements' in each);
  const information = read.find((each): each is ElementTemplate => !('elements' in each));
  if (!information) throw new Error('no template of an information');
  return {
    forms: forms.toSorted((one, other) => order.indexOf(one.key) - order.indexOf(other.key)),
    information,
  };
}
