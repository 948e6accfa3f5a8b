import { StartupError } from '#lib/errors/fail.ts';
import { listOf, objectOf, type Resource, textOf, textsOf } from '#lib/moving/gics/fhir-json.ts';

/** What a policy, a module and a template have in common. `key` is `<domain>;<name>;<version>`. */
interface Item {
  key: string;
  name: string;
  label: string;
  version: string;
  comment: string | undefined;
}

/** What a person permits; programs ask for it. */
export interface Policy extends Item {
  /** Code in a FHIR consent. */
  code: string | undefined;
}

/** A paragraph of a document. A person answers it, and all its policies with it. */
export interface Module extends Item {
  /** HTML. */
  title: string | undefined;
  text: string | undefined;
  policies: { key: string; expiration: Expiration }[];
}

/** A document. */
export interface Template extends Item {
  type: string;
  title: string | undefined;
  header: string | undefined;
  footer: string | undefined;
  expiration: Expiration;
  /** By which a FHIR consent names it. */
  uri: string | undefined;
  /** In their order. */
  modules: { key: string; expiration: Expiration }[];
}

/** How long something is valid: an ISO 8601 duration; other rules by name. */
export interface Expiration {
  validity: string | undefined;
  others: string[];
}

/** The documents of a domain of gICS, as it exchanges them. */
export interface Definition {
  domain: string;
  label: string;
  /** Of identifiers by which people are known, in the order of preference. */
  identifierTypes: string[];
  policies: Policy[];
  modules: Module[];
  templates: Template[];
}

export const definitionType = 'ExchangeFormatDefinition';

/** Reads an exchange file. @throws StartupError that names what it lacks. */
export function readDefinition(resource: Resource, file: string): Definition {
  const domain = objectOf(resource.domain);
  const name = textOf(domain.name);
  if (name === undefined) throw new StartupError(`${file} names no domain.`);
  const safeType = propertiesOf(domain.externProperties).get('fhirSafeSignerIdType');
  const definition: Definition = {
    domain: name,
    label: textOf(domain.label) ?? name,
    identifierTypes: [...(safeType ? [safeType] : []), ...textsOf(domain.signerIdType)],
    policies: listOf(resource.policiesConsentPolicy).map((policy) => ({
      ...itemOf(policy, name),
      code: propertiesOf(policy.externProperties).get('fhirPolicyCode'),
    })),
    modules: listOf(resource.modulesConsentModule).map((module) => ({
      ...itemOf(module, name),
      title: textOf(module.title),
      text: textOf(module.text) ?? textOf(module.shortText),
      policies: listOf(module.policiesAssignedConsentPolicy).map((assigned) => ({
        key: textOf(assigned.policyKey) ?? '',
        expiration: expirationOf(assigned.expirationProperties),
      })),
    })),
    templates: listOf(resource.templatesConsentTemplate).map((template) => ({
      ...itemOf(template, name),
      type: textOf(template.type) ?? 'CONSENT',
      title: textOf(template.title),
      header: textOf(template.header),
      footer: textOf(template.footer),
      expiration: expirationOf(template.expirationProperties),
      uri: propertiesOf(template.externProperties).get('fhirPolicyUri'),
      modules: listOf(template.modulesAssignedConsentModule)
        .toSorted((one, other) => Number(one.orderNumber ?? 0) - Number(other.orderNumber ?? 0))
        .map((assigned) => ({
          key: textOf(assigned.moduleKey) ?? '',
          expiration: expirationOf(assigned.expirationProperties),
        })),
    })),
  };
  requireReferences(definition, file);
  return definition;
}

/** Templates write `Name` and `Label` with a capital. */
function itemOf(item: Resource, domain: string): Item {
  const name = textOf(item.name) ?? textOf(item.Name) ?? '';
  const version = textOf(item.version) ?? '';
  return {
    key: `${textOf(item.domainName) ?? domain};${name};${version}`,
    name,
    label: textOf(item.label) ?? textOf(item.Label) ?? name,
    version,
    comment: textOf(item.comment),
  };
}

function requireReferences({ policies, modules, templates }: Definition, file: string): void {
  const known = new Set([...policies, ...modules].map(({ key }) => key));
  const faults = [
    ...modules.flatMap((module) => module.policies.map(({ key }) => [module.key, key] as const)),
    ...templates.flatMap((template) => template.modules.map(({ key }) => [template.key, key] as const)),
  ].flatMap(([from, key]) => (known.has(key) ? [] : `${from}: ${key} is not in the file`));
  if (faults.length > 0) throw new StartupError([`${file} is not complete:`, ...faults].join('\n  '));
}

/** `name=value;` lists. */
function propertiesOf(value: unknown): Map<string, string> {
  const pairs = (textOf(value) ?? '').split(';').flatMap((each): [string, string][] => {
    const at = each.indexOf('=');
    return at < 0 ? [] : [[each.slice(0, at).trim(), each.slice(at + 1).trim()]];
  });
  return new Map(pairs.filter(([, text]) => text !== ''));
}

function expirationOf(value: unknown): Expiration {
  const { VALIDITY_PERIOD, ...others } = Object.fromEntries(propertiesOf(value));
  return { validity: VALIDITY_PERIOD?.toUpperCase(), others: Object.keys(others) };
}

/** Orders versions such as `1.10` and `1.6.d`. */
export function compareVersions(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}
