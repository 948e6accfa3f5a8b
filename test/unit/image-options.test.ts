import { expect, it } from 'vitest';
import { imageMemory, imageOptions } from '../infrastructure/image-options.ts';

it('Tests and benches start services with what the image gives them', () => {
  expect(imageOptions).toContain('--disable-warning=TimeoutNegativeWarning');
  expect(imageOptions.some((option) => option.startsWith('--heap-growing-percent='))).toBe(true);
  expect(imageMemory).toHaveProperty('MALLOC_ARENA_MAX');
});
