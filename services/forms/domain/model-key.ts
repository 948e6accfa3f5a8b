import type { ModelType } from './model.ts';

const pattern = /^[0-9A-Za-z_.-]{2,255}$/;
/** Names that mean something else to a path or to an object. */
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether a text may be a model's key (docs/interface.md, "Terms"): it also stands in paths and in JSON objects. */
export function isModelKey(key: string): boolean {
  return pattern.test(key) && !reserved.has(key) && !/^\.+$/.test(key);
}

/** Whether a text has the shape of an entry's id. */
export function isEntryId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** The key that an entry gets when none is given: `processing`, 7 → `processing.007`. */
export function defaultKey(type: ModelType, number: number): string {
  return `${type}.${String(number).padStart(3, '0')}`;
}
