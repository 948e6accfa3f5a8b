import { describe, expect, it } from 'vitest';
import { checkContent } from '../../services/forms/domain/check-content.ts';
import { contentOfOrganisation, contentOfTemplate } from '../../services/forms/domain/fill-template.ts';
import { adviseOn, checkNotice } from '../../services/forms/domain/notice-check.ts';
import { readTemplates } from '../../services/forms/templates/templates.ts';

const languages = ['en', 'fr', 'ar'];
const { forms, information } = readTemplates();
const elements = [information, ...forms.flatMap((form) => form.elements)];
const organisation = {
  company: 'Lakeside Clinic',
  email: 'privacy@clinic.example.org',
  dataProtectionOfficer: 'Claire Morel, dpo@clinic.example.org',
  supervisoryAuthority: 'CNIL, www.cnil.fr',
  privacyPolicyUrl: 'https://clinic.example.org/privacy',
};
const more = (type: string) => (type === 'information' ? contentOfOrganisation(organisation) : {});

/** Every choice of languages, in each order of two. */
const choices = [...languages.map((each) => [each]), ['en', 'fr'], ['fr', 'ar'], ['ar', 'en', 'fr']];

describe('the templates', () => {
  it('are of reminders, a newsletter, research, photographs, a doctor and a school outing', () => {
    expect(forms.map(({ key }) => key)).toEqual([
      'newsletter',
      'sms-reminders',
      'photographs',
      'doctor',
      'research',
      'school-outing',
    ]);
    const keys = [...forms, ...elements].map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('have a name, a description and a content in every language of the pages', () => {
    for (const { key, texts } of [...forms, ...elements]) {
      expect(Object.keys(texts), key).toEqual(languages);
      for (const { name, description } of Object.values(texts)) {
        expect(name.length, key).toBeGreaterThan(3);
        expect(description, key).toMatch(/[.؟]$/u);
      }
    }
    for (const { key, data } of elements) expect(Object.keys(data), key).toEqual(languages);
  });

  it('are translated: no two languages have the same text', () => {
    for (const { key, data } of elements) {
      const texts = Object.values(data).map(({ title, label, usage }) => [title, label, usage]);
      expect(new Set(texts.map(String)).size, key).toBe(languages.length);
    }
  });

  it.each(elements)(
    '$key: passes every check of an activation, in every choice of languages',
    async (element) => {
      for (const chosen of choices) {
        const content = contentOfTemplate(element, chosen, more(element.type));
        const { data, faults } = await checkContent(element.type, content);
        expect(faults).toEqual([]);
        expect(adviseOn(element.type, data)).toEqual([]);
        expect(checkNotice(element.type, data).filter(({ met }) => !met)).toEqual([]);
      }
    },
  );

  it('say for each use of data what refusing or withdrawing means', () => {
    const words = { en: /refus|withdraw/i, fr: /refus|retir/i, ar: /رفض|سحب/ } as const;
    for (const { key, data } of elements.filter(({ type }) => type === 'processing')) {
      for (const [language, word] of Object.entries(words))
        expect(String(data[language]?.usage), `${key} ${language}`).toMatch(word);
    }
  });

  it('have Arabic without vowel marks', () => {
    const arabic = [...forms, ...elements].map((each) =>
      JSON.stringify([each.texts.ar, 'data' in each && each.data.ar]),
    );
    expect(arabic.filter((text) => /[\u064b-\u0652]/u.test(text))).toEqual([]);
  });

  it('keep for the same time in words and as a number in every language', () => {
    for (const { key, data } of elements) {
      const numbers = Object.values(data).map(({ retention }) => {
        const { value, unit } = (retention ?? {}) as { value?: number; unit?: string };
        return `${value} ${unit}`;
      });
      expect(new Set(numbers).size, key).toBe(1);
    }
  });
});
