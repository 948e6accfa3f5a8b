import path from 'node:path';
import { StartupError } from '#lib/errors/fail.ts';
import type { Schemas } from '#lib/models/models-api.ts';
import { bringPlanned } from '#lib/moving/bring-planned.ts';
import { type Definition, definitionType, readDefinition } from '#lib/moving/gics/definition.ts';
import {
  listOf,
  NoResource,
  objectOf,
  parseResource,
  type Resource,
  textOf,
} from '#lib/moving/gics/fhir-json.ts';
import { modelsOfDefinition } from '#lib/moving/gics/models-of-definition.ts';
import { rowsOfConsent } from '#lib/moving/gics/rows-of-consent.ts';
import type { InstanceClient } from '#lib/moving/instance-client.ts';
import { leaveOut, type NotCarried } from '#lib/moving/not-carried.ts';
import { readLines, readText } from '#lib/moving/read-lines.ts';
import type { ImportSource, SourceItem } from '#lib/moving/source.ts';
import { notUtf8 } from '#lib/text/utf8.ts';

interface Options {
  /** Of the texts of the file. */
  language: string;
  isDryRun: boolean;
  notCarried: NotCarried;
  say: (line: string) => void;
}

/**
 * Reads the exchange file of gICS (JSON or XML), with consents of FHIR beside it: bundles, or one resource a
 * line. The policies, modules and documents become models; each signed policy a row.
 */
export async function readGics(files: readonly string[], options: Options): Promise<ImportSource> {
  const { isDryRun, notCarried, say } = options;
  const found = await findDefinition(files);
  const { definition } = found;
  const models = modelsOfDefinition(definition, options);
  const serials = new Map<string, string>();
  const prepared = new Set<string>();
  let target: InstanceClient | undefined;
  return {
    keys: undefined,
    items: items(),
    async prepare(instance) {
      target = instance;
      const steps = await bringPlanned(instance, models, isDryRun);
      for (const { key, version } of isDryRun ? steps : []) {
        prepared.add(key);
        serials.set(key, version?.serial ?? '1.0');
      }
      const made = steps.filter(({ change }) => change === 'CREATED').length;
      if (steps.length > 0)
        say(`${isDryRun ? 'Would make' : 'Made'} ${made} models here, and change ${steps.length - made}.`);
    },
    isPrepared: ({ element, information }) =>
      prepared.has(String(element)) || prepared.has(String(information)),
  };

  async function* items(): AsyncGenerator<SourceItem> {
    const patients = new Map<string, Resource>();
    let line = 0;
    for (const file of files.filter((each) => each !== found.file))
      for await (const read of readResources(file)) {
        if ('fault' in read) {
          line += 1;
          yield { place: read.place, original: { line, text: read.text }, fault: read.fault };
          continue;
        }
        const { resource, place } = read;
        if (resource.resourceType === 'Patient') patients.set(`Patient/${resource.id}`, resource);
        else if (resource.resourceType !== 'Consent')
          leaveOut(notCarried, `resources of type ${textOf(resource.resourceType) ?? 'none'}`);
        if (resource.resourceType !== 'Consent') continue;
        line += 1;
        const consent = withIdentifiers(resource, patients);
        const original = { line, text: JSON.stringify(consent) };
        yield* await rowsOfConsent(consent, { place, original }, { definition, serialOf, notCarried });
      }
  }

  async function serialOf(key: string): Promise<string> {
    const known = serials.get(key);
    if (known !== undefined) return known;
    const entry = await target?.findJson<Schemas['Entry']>(`/models/serials/${key}`);
    const serial = entry?.versions.find(({ status }) => status === 'ACTIVE')?.serial ?? '1.0';
    serials.set(key, serial);
    return serial;
  }
}

async function findDefinition(files: readonly string[]): Promise<{ definition: Definition; file: string }> {
  for (const file of files) {
    if (isLines(file)) continue;
    const resource = await readOne(file);
    if (resource.resourceType === definitionType)
      return { definition: readDefinition(resource, path.basename(file)), file };
  }
  throw new StartupError(`None of the files is an ${definitionType} of gICS.`);
}

/** A consent by itself, without the patient beside it. */
function withIdentifiers(consent: Resource, patients: ReadonlyMap<string, Resource>): Resource {
  const patient = objectOf(consent.patient);
  const reference = textOf(patient.reference)?.split('/').slice(-2).join('/') ?? '';
  const identifier = [...listOf(patient.identifier), ...listOf(patients.get(reference)?.identifier)];
  return { ...consent, patient: { ...patient, identifier } };
}

const isLines = (file: string) => file.endsWith('.ndjson');

async function readOne(file: string): Promise<Resource> {
  const text = await readText(file);
  try {
    return parseResource(text);
  } catch (error) {
    if (!(error instanceof NoResource)) throw error;
    throw new StartupError(`${path.basename(file)} ${error.message}.`, { cause: error });
  }
}

/** A resource, or why a line has none. */
type Placed = { place: string } & ({ resource: Resource } | { text: string | Buffer; fault: string });

/** The resources of a file; of a bundle those of people first, which consents name. */
async function* readResources(file: string): AsyncGenerator<Placed> {
  const name = path.basename(file);
  if (isLines(file)) {
    for await (const { line, bytes, text } of readLines(file)) {
      const place = `${name}, line ${line}`;
      if (text === undefined) yield { place, text: bytes, fault: notUtf8 };
      else if (text.trim() !== '') yield { place, ...parseLine(text) };
    }
    return;
  }
  const resource = await readOne(file);
  const all = resource.resourceType === 'Bundle' ? listOf(resource.entry).map(resourceOf) : [resource];
  const isPerson = ({ resourceType }: Resource) => resourceType === 'Patient';
  for (const each of [...all.filter(isPerson), ...all.filter((other) => !isPerson(other))])
    yield { resource: each, place: `${name}, ${textOf(each.resourceType)} ${textOf(each.id) ?? ''}` };
}

/** In XML the resource stands in an element of its own name. */
function resourceOf({ resource }: Resource): Resource {
  const given = objectOf(resource);
  if (given.resourceType !== undefined) return given;
  const [[resourceType, value] = ['', {}]] = Object.entries(given);
  return { resourceType, ...objectOf(value) };
}

function parseLine(text: string): { resource: Resource } | { text: string; fault: string } {
  try {
    return { resource: parseResource(text) };
  } catch (error) {
    if (!(error instanceof NoResource)) throw error;
    return { text, fault: error.message };
  }
}
