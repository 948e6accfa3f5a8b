import { createRequire } from 'node:module';
import { DuplicateMember, parseUniqueJson } from '#lib/json/check-json.ts';

/** A resource as FHIR writes it in JSON. Lists with one entry may be written without brackets. */
export type Resource = { readonly [member: string]: unknown };

const isObject = (value: unknown): value is Resource =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Thrown for a text that is no resource; the message goes on behind the name of the text. */
export class NoResource extends Error {}

/**
 * Reads a resource in one of the two formats of FHIR, JSON or XML.
 * @throws NoResource for another text.
 */
export function parseResource(text: string): Resource {
  const bare = text.replace(/^\uFEFF/, '').trimStart();
  const value = bare.startsWith('<') ? parseXml(bare) : parseJson(bare);
  if (isObject(value)) return value;
  throw new NoResource('is no resource of FHIR');
}

function parseJson(text: string): unknown {
  try {
    return parseUniqueJson(text);
  } catch (cause) {
    const { message } = cause as Error;
    if (cause instanceof DuplicateMember) throw new NoResource(`${message}: ${cause.pointer}`, { cause });
    throw new NoResource(`is neither JSON nor XML: ${message}`, { cause });
  }
}

/** XML of FHIR: values stand in attributes, and what repeats is a list. */
function parseXml(text: string): unknown {
  const require = createRequire(import.meta.url);
  const { XMLParser } = require('fast-xml-parser') as typeof import('fast-xml-parser');
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseAttributeValue: false,
    parseTagValue: false,
    htmlEntities: true,
  });
  let read: Record<string, unknown>;
  try {
    read = parser.parse(text, true) as Record<string, unknown>;
  } catch (cause) {
    throw new NoResource(`is not XML: ${(cause as Error).message}`, { cause });
  }
  const [[type, root] = ['', undefined]] = Object.entries(read).filter(([tag]) => !tag.startsWith('?'));
  const value = contentOf(root);
  return isObject(value) ? { resourceType: type, ...value } : undefined;
}

function contentOf(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(contentOf);
  if (!isObject(node)) return node;
  if ('@value' in node) return node['@value'];
  const members = Object.entries(node).filter(([name]) => !name.startsWith('@'));
  return Object.fromEntries(members.map(([name, value]) => [name, contentOf(value)]));
}

/** A text; undefined if it is empty or something else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The entries of a list of objects. */
export function listOf(value: unknown): Resource[] {
  return [value].flat().filter(isObject);
}

/** The entries of a list of texts. */
export function textsOf(value: unknown): string[] {
  return [value].flat().flatMap((each) => textOf(each) ?? []);
}

/** An object; an empty one if it is something else. */
export function objectOf(value: unknown): Resource {
  return isObject(value) ? value : {};
}
