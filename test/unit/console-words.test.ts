import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { legalBases, purposes } from '#lib/contracts/element-rules.ts';

const services = new URL('../../services/', import.meta.url);
const wordsIn = (folder: string, language: string) =>
  JSON.parse(readFileSync(new URL(`${folder}locales/${language}.json`, services), 'utf8')) as Record<
    string,
    string
  >;

/** Words of the editor, and what they are called on the form or in its list of changes. */
const same: Record<string, string[]> = {
  'content.data': ['processing.data', 'change.field.data'],
  'content.usage': ['change.field.usage'],
  'content.purposes': ['processing.purposes', 'change.field.purposes'],
  'content.legalBases': ['processing.legalBases', 'change.field.legalBases'],
  'content.thirdParties': ['processing.thirdParties', 'change.field.thirdParties'],
  'content.containsSensitiveData': ['processing.sensitive'],
  'content.containsMedicalData': ['processing.medical'],
  'content.dataController.company': ['form.controller', 'processing.controller', 'change.field.controller'],
  'content.dataController.address': ['contact.address'],
  'content.dataController.email': ['contact.email'],
  'content.dataController.phoneNumber': ['contact.phone'],
  'content.scope': ['form.scope', 'change.field.scope'],
  'content.jurisdiction': ['form.jurisdiction', 'change.field.jurisdiction'],
  'content.dataProtectionOfficer': ['form.officer', 'change.field.dataProtectionOfficer'],
  'content.supervisoryAuthority': ['form.authority', 'change.field.supervisoryAuthority'],
  'content.header': ['change.field.header'],
  'content.footer': ['change.field.footer'],
  'content.title': ['change.field.title'],
  'content.label': ['change.field.label'],
  'content.description': ['change.field.description'],
  'content.options': ['change.field.options'],
  'content.body': ['change.field.body'],
  'content.acceptLabel': ['change.field.acceptLabel'],
  'content.rejectLabel': ['change.field.rejectLabel'],
  ...Object.fromEntries(purposes.map((code) => [`option.${code}`, [`purpose.${code}`]])),
  ...Object.fromEntries(legalBases.map((code) => [`option.${code}`, [`legalBasis.${code}`]])),
};

describe.each(['en', 'fr', 'ar'])('in %s', (language) => {
  const onForm = wordsIn('forms/', language);
  const editor = wordsIn('console/rooms/elements/', language);

  it('the editor has the words of the form that people read', () => {
    const differing = Object.entries(same).flatMap(([key, others]) =>
      others.flatMap((other) => (editor[key] === onForm[other] ? [] : [[key, editor[key], onForm[other]]])),
    );
    expect(differing).toEqual([]);
    const retention = onForm['processing.retention'] ?? '';
    expect(onForm['change.field.retention']).toBe(retention);
    for (const key of ['content.retention.fullText', 'content.retention.value'])
      expect(editor[key]?.startsWith(retention), key).toBe(true);
  });

  it('the page of a person has the same words for purposes', () => {
    const subjects = wordsIn('console/rooms/subjects/', language);
    for (const code of purposes)
      expect(subjects[`purpose.${code}`] ?? onForm[`purpose.${code}`]).toBe(onForm[`purpose.${code}`]);
  });
});
