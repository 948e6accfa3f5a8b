import { vi } from 'vitest';
import { patience } from './patience.ts';

/** Waits until a check passes: for what happens by itself, however busy the machine is. */
export function until<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, patience) as Promise<T>;
}
