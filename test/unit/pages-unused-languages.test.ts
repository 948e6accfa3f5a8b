import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { languagesIn } from '#lib/pages/catalogues.ts';
import {
  localesFolder as authLocales,
  loadWords as loadAuthWords,
} from '../../services/auth/issuer/words.ts';
import type { PageModel } from '../../services/forms/pages/page-model.ts';
import { createPageRenderer } from '../../services/forms/pages/page-renderer.ts';
import { localesFolder } from '../../services/forms/pages/words.ts';
import { assets, renderer } from '../support/pages/page-renderer.ts';
import { samplePages } from '../support/pages/sample-pages.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { sampleMessage } from '../support/samples/sample-messages.ts';

/** A LOCALES_DIR with a file for each of some languages of a service. */
async function localesWith(service: string, languages: readonly string[], content: string): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(path.join(folder, service));
  await Promise.all(
    languages.map((language) => writeFile(path.join(folder, service, `${language}.json`), content)),
  );
  return folder;
}

const othersIn = (folder: URL) => languagesIn(folder).filter((language) => language !== 'en');
const unreadable = '{"form.';
const formIn = (language: 'en' | 'fr' | 'ar') => samplePages(language)['form-everything'] as PageModel;

describe('a language that nobody reads', () => {
  it('is not read at the start, for any page in English, or for a message', async () => {
    const withoutOthers = createPageRenderer(
      assets,
      await localesWith('forms', othersIn(localesFolder), unreadable),
    );
    for (const [name, page] of Object.entries(samplePages('en')))
      expect(withoutOthers.render(page), name).toBe(renderer.render(page));
    const style = { language: 'en', mail: null, brand: null };
    const message = sampleMessage('invitation', 'en');
    expect(withoutOthers.renderMessage(message, style)).toEqual(renderer.renderMessage(message, style));
    expect(() => withoutOthers.render(formIn('fr'))).toThrow(SyntaxError);
  });

  it('is not read by the sign-in either', async () => {
    const find = loadAuthWords(await localesWith('auth', othersIn(authLocales), unreadable));
    expect(find(['en']).t('signIn.submit')).toBe('Sign in');
    expect(() => find(['fr'])).toThrow(SyntaxError);
  });

  it('adds nothing to a form, however many there are', async () => {
    const withMore = createPageRenderer(assets, await localesWith('forms', ['ca', 'cy', 'eu', 'oc'], '{}'));
    expect(withMore.languages.length).toBe(renderer.languages.length + 4);
    for (const form of [formIn('en'), formIn('ar')])
      expect(withMore.render(form)).toBe(renderer.render(form));
  });
});
