import { expect, it } from 'vitest';
import { fileName } from '#lib/text/file-name.ts';

it.each([
  ['Riverside Clinic', 'Riverside-Clinic'],
  ['../../etc/passwd "x"', 'etc-passwd-x'],
  ['عيادة النهر', 'عيادة-النهر'],
  ['!?', ''],
])('the file of %s has its words in characters that every system takes', (text, words) => {
  expect(fileName(text, 'export')).toMatch(
    new RegExp(`^${words}${words && '-'}export-\\d{4}-\\d\\d-\\d\\d$`, 'u'),
  );
});

it.each(['', 'a', 'ab'])('a long name after "%s" ends between two characters', (before) => {
  const name = fileName(`${before}${'𠮷'.repeat(200)}`);
  expect(name.isWellFormed()).toBe(true);
  expect(name.length).toBeLessThan(140);
});
