import type { Principal } from '#lib/contracts/principal.ts';
import { Failure, type Fault, fail, prefixPointers } from '#lib/errors/fail.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import { escapePointer } from '#lib/json/pointer.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { type AccessMapping, isObjectPlace, isScalar, readPlace } from '../decisions/mapping.ts';
import { readContext } from '../request/read-context.ts';
import { invalid, keyOf } from '../transaction/values.ts';
import type { Dependencies } from './dependencies.ts';
import { readExportId } from './records-export.ts';

type Given = Input<'setAccessMappings'>['body']['mappings'][number];

/** /access/mappings (docs/decisions-api.md, "AuthZEN") */
export function accessMappingHandlers(dependencies: Dependencies) {
  const { accessMappings, signPage } = dependencies;
  return {
    async getAccessMappings(ctx, { query }) {
      const id = readExportId(query.exportId);
      const mappings = await accessMappings.known();
      const page = { part: 'mappings', after: null, next: null, values: mappings } as const;
      ctx.body = { mappings, ...(id && { signature: signPage({ export: id, ...page }) }) };
    },

    async setAccessMappings(ctx, { body, query, principal }) {
      const { mappings, faults: ofTexts } = readTexts(body.mappings);
      const faults = [...ofTexts, ...(await findFaults(dependencies, mappings, principal))];
      if (faults.length > 0) throw fail('invalid', 'The mappings are not valid.', { errors: faults });
      if (query.dryRun !== 'true') await accessMappings.replace(mappings as AccessMapping[]);
      ctx.body = { mappings };
    },
  } satisfies OperationHandlers;
}

const maxMappings = 200;
const maxConditions = 20;
const maxLength = 255;
const texts = ['subjectType', 'action', 'resourceType', 'element', 'purpose', 'object'] as const;

/** Reads the texts as all others are read: in NFC, without surrounding white space, and not empty. */
function readTexts(given: readonly Given[]): { mappings: Given[]; faults: Fault[] } {
  const faults: Fault[] = [];
  const detail = `must be a text of 1 to ${maxLength} characters`;
  if (given.length > maxMappings)
    faults.push(invalid('/mappings', `must have at most ${maxMappings} members`));
  const mappings = given.slice(0, maxMappings).map((mapping, place) => {
    const read = { ...mapping };
    for (const name of texts) {
      const text = mapping[name];
      if (text === undefined) continue;
      const bounded = readBoundedText(text, maxLength);
      if (bounded) read[name] = bounded;
      else faults.push(invalid(`/mappings/${place}/${name}`, detail));
    }
    return read;
  });
  return { mappings, faults };
}

async function findFaults(
  { forms, messaging }: Dependencies,
  mappings: readonly Given[],
  principal: Principal,
): Promise<Fault[]> {
  const keys = mappings.flatMap(({ element }) => (element === undefined ? [] : [keyOf(element)]));
  // Not what decisions keep of it for a second: an element may be named as soon as it is created.
  const found = await forms.versionsAt({ keys: [...new Set(keys)], purposes: [] });
  const known = new Map(Object.entries(found.versions));
  const isAnswered = (element: string) =>
    ['processing', 'conditions'].includes(known.get(keyOf(element))?.type ?? '');
  const faults = mappings.map(async (mapping, place) => {
    const pointer = `/mappings/${place}`;
    const { element, purpose } = mapping;
    const ofAbout =
      (element === undefined) === (purpose === undefined)
        ? [invalid(`${pointer}/element`, 'must be given, or purpose, and not both')]
        : [];
    const ofElement =
      element !== undefined && !isAnswered(element)
        ? [invalid(`${pointer}/element`, 'must be the key of a processing or conditions')]
        : [];
    const ofCapture = await captureFaults(mapping, pointer, { principal, messaging });
    return [...ofAbout, ...ofElement, ...placeFaults(mapping, pointer), ...ofCapture];
  });
  return (await Promise.all(faults)).flat();
}

function placeFaults({ object, when = {} }: Given, pointer: string): Fault[] {
  const ofWhen = Object.entries(when).flatMap(([place, value]) => {
    const at = `${pointer}/when/${escapePointer(place)}`;
    if (!readPlace(place))
      return [invalid(at, 'must be named subject.id, resource.id or <entity>.properties.<name>')];
    return isScalar(value) && String(value).length <= maxLength
      ? []
      : [invalid(at, `must be a number, a boolean, or a text of at most ${maxLength} characters`)];
  });
  if (Object.keys(when).length > maxConditions)
    ofWhen.push(invalid(`${pointer}/when`, `must have at most ${maxConditions} members`));
  const isFaulty = object !== undefined && !isObjectPlace(object);
  const detail = 'must be resource.id or resource.properties.<name>';
  return isFaulty ? [...ofWhen, invalid(`${pointer}/object`, detail)] : ofWhen;
}

/** The caller gives the subject. */
async function captureFaults(
  { capture }: Given,
  pointer: string,
  { principal, messaging }: Pick<Dependencies, 'messaging'> & { principal: Principal },
): Promise<Fault[]> {
  if (capture === undefined) return [];
  if ('subject' in capture) return [invalid(`${pointer}/capture/subject`, 'must not be set')];
  try {
    await prefixPointers(`${pointer}/capture`, async () =>
      readContext({ ...capture, subject: 'person' }, principal, messaging),
    );
    return [];
  } catch (error) {
    if (error instanceof Failure && error.errors) return error.errors;
    throw error;
  }
}
