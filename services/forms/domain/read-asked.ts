import { type Identifier, parseIdentifier } from './identifier.ts';
import { isModelKey } from './model-key.ts';
import { parseSerial } from './serial.ts';

/** What a peer's form asked of ours, and answers to it: not yet compared with what there is. */
export interface Asked {
  info: Identifier;
  elements: Identifier[];
}

/** Most elements of a layout (docs/interface.md, "Limits"). */
const maxElements = 100;

/**
 * Reads identifiers that came by a peer. Nothing is answered that was not asked, nothing is asked twice, and `conditions` stand alone
 * (docs/interface.md, "The consent context").
 */
export function readAsked(given: {
  info: string;
  elements: readonly string[];
  answers: Readonly<Record<string, unknown>>;
}): Asked | 'unknown-element' | 'invalid' {
  const names = new Set(given.elements);
  const all = given.elements.length;
  if (all === 0 || all > maxElements || !Object.keys(given.answers).every((name) => names.has(name)))
    return 'invalid';
  const info = readOwn(given.info);
  const elements = given.elements.flatMap((text) => readOwn(text) ?? []);
  if (!info || elements.length < all) return 'unknown-element';
  const types = new Set(elements.map(({ type }) => type));
  const keys = new Set(elements.map(({ key }) => key));
  return keys.size < all || (types.has('conditions') && types.size > 1) ? 'invalid' : { info, elements };
}

/** The identifier of something that could be ours: without a host. */
function readOwn(text: string): Identifier | undefined {
  const identifier = parseIdentifier(text);
  return identifier && isModelKey(identifier.key) && parseSerial(identifier.serial) ? identifier : undefined;
}
