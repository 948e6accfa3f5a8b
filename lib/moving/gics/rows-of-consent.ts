import type { Definition, Policy } from '#lib/moving/gics/definition.ts';
import { listOf, objectOf, type Resource, textOf } from '#lib/moving/gics/fhir-json.ts';
import { keyOf } from '#lib/moving/gics/models-of-definition.ts';
import { leaveOut, type NotCarried } from '#lib/moving/not-carried.ts';
import type { SourceItem } from '#lib/moving/source.ts';

/** An answer to one policy. */
interface Provision {
  code: string;
  isPermitted: boolean;
  expires: string | undefined;
}

interface Context {
  definition: Definition;
  /** The serial of the ACTIVE version of an element. */
  serialOf: (key: string) => Promise<string>;
  notCarried: NotCarried;
}

/**
 * Rows of a consent of FHIR (R4), one for each signed policy, or why there are none.
 * @param consent with the identifiers of its patient.
 */
export async function rowsOfConsent(
  consent: Resource,
  { place, original }: Pick<SourceItem, 'place' | 'original'>,
  context: Context,
): Promise<SourceItem[]> {
  const { definition, notCarried } = context;
  const at = (inside: string) => ({ place: `${place}${inside}`, ...(original && { original }) });
  const status = textOf(consent.status) ?? '';
  if (status !== 'active') {
    // What an ended consent permits counts no more, and when it ended is not said.
    leaveOut(notCarried, `consents with the status ${status || 'none'}`);
    return [];
  }
  const id = textOf(listOf(consent.identifier)[0]?.value) ?? textOf(consent.id);
  const subject = subjectOf(objectOf(consent.patient), definition);
  if (id === undefined) return [{ ...at(''), fault: 'has neither an identifier nor an id' }];
  if (subject === undefined) return [{ ...at(''), fault: 'names no patient by an identifier' }];
  const items: SourceItem[] = [];
  for (const { code, isPermitted, expires } of provisionsOf(objectOf(consent.provision))) {
    const policy = policyOf(definition, code);
    if (!policy) {
      items.push({ ...at(`, ${code}`), fault: `is the code of no policy of ${definition.domain}` });
      continue;
    }
    const element = keyOf.policy(definition.domain, policy.name);
    const row = {
      subject,
      element,
      serial: await context.serialOf(element),
      answer: [isPermitted ? 'accepted' : 'refused'],
      given: consent.dateTime,
      expires: isPermitted ? (expires ?? null) : null,
      ...informationOf(definition, consent),
      source: `gICS ${definition.domain}`,
      sourceId: `${id}/${policy.name}`,
    };
    items.push({ ...at(`, ${policy.name}`), row });
  }
  if (items.length === 0) leaveOut(notCarried, 'consents without a policy');
  return items;
}

/** A base provision says what holds for everything that no other one names. */
function provisionsOf(provision: Resource): Provision[] {
  const isPermitted = textOf(provision.type) === 'permit';
  const expires = textOf(objectOf(provision.period).end);
  const codes = listOf(provision.code).flatMap(({ coding }) => textOf(listOf(coding)[0]?.code) ?? []);
  return [
    ...codes.map((code) => ({ code, isPermitted, expires })),
    ...listOf(provision.provision).flatMap(provisionsOf),
  ];
}

function policyOf({ policies }: Definition, code: string): Policy | undefined {
  return policies.find((policy) => policy.code === code || policy.name === code);
}

/** The document that was signed. */
function informationOf({ domain, templates }: Definition, consent: Resource) {
  const uris = listOf(consent.policy).map(({ uri }) => uri);
  const documents = templates.filter(({ type }) => type === 'CONSENT');
  const document = documents.find(({ uri }) => uri !== undefined && uris.includes(uri)) ?? documents[0];
  return document ? { information: keyOf.information(domain, document.name) } : {};
}

/** By an identifier of the type that the domain prefers. */
function subjectOf({ identifier }: Resource, { identifierTypes }: Definition): string | undefined {
  const identifiers = listOf(identifier);
  for (const type of identifierTypes) {
    const preferred = identifiers.find(({ system }) => textOf(system)?.endsWith(`/${type}`));
    if (preferred) return textOf(preferred.value);
  }
  return textOf(identifiers[0]?.value);
}
