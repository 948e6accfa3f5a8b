import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { demoModels } from '../../services/forms/demo/models.ts';
import { checklistCodes, checklistOf } from '../../services/forms/domain/checklist.ts';

const pointsOf = (
  type: 'processing' | 'information' | 'preference',
  data: Record<string, Record<string, unknown>>,
) => Object.fromEntries(checklistOf(type, data).map(({ code, pointers }) => [code, pointers]));

describe('the checklist of an element', () => {
  it('names what a bare processing does not say', () => {
    expect(pointsOf('processing', { en: { title: 'Letters', data: 'Name', usage: 'To write' } })).toEqual({
      purposes: ['/data/en/purposes'],
      'legal-bases': ['/data/en/legalBases'],
      retention: ['/data/en/retention/fullText'],
      recipients: ['/data/en/thirdParties'],
    });
  });

  it('takes an empty list of recipients as the statement that there are none', () => {
    expect(pointsOf('processing', { en: { thirdParties: [] } }).recipients).toEqual([]);
  });

  it('asks for consent where data are sensitive or medical, and only there', () => {
    const medical = { containsMedicalData: true, legalBases: ['LEGAL_BASIS_CONTRACT'] };
    expect(pointsOf('processing', { en: medical })['special-categories']).toEqual(['/data/en/legalBases']);
    const consented = { ...medical, legalBases: ['LEGAL_BASIS_CONSENT'] };
    expect(pointsOf('processing', { en: consented })['special-categories']).toEqual([]);
    expect(pointsOf('processing', { en: {} })).not.toHaveProperty('special-categories');
  });

  it('asks an information for all that a person must be able to reach', () => {
    expect(Object.keys(pointsOf('information', { en: {} }))).toEqual([
      'controller',
      'controller-contact',
      'data-protection-officer',
      'supervisory-authority',
      'privacy-policy',
    ]);
    const hidden = { dataController: { company: 'Clinic' } };
    expect(pointsOf('information', { en: hidden })['controller-shown']).toEqual([
      '/data/en/dataControllerVisible',
    ]);
  });

  it('names each text that a language lacks', () => {
    const data = { en: { label: 'How often?', description: 'As you like' }, fr: { label: 'Combien ?' } };
    expect(pointsOf('preference', data).translations).toEqual(['/data/fr/description']);
  });

  it.each(demoModels().map(({ key, type, data }) => [key, type, data] as const))(
    'is met by %s of the demonstration',
    (_, type, data) => {
      expect(checklistOf(type, data).filter(({ met }) => !met)).toEqual([]);
    },
  );

  it('points at something exactly where a point is not met, whatever the content', () => {
    const value = fc.oneof(fc.string(), fc.boolean(), fc.constant([]), fc.array(fc.string()), fc.object());
    const members = [
      'title',
      'purposes',
      'legalBases',
      'thirdParties',
      'dataController',
      'retention',
    ] as const;
    const content = fc.dictionary(fc.constantFrom(...members), value);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('en', 'fr', 'ar'), content), (data) => {
        for (const type of ['processing', 'information', 'preference', 'conditions'] as const)
          for (const { code, met, pointers } of checklistOf(type, data as never)) {
            expect(checklistCodes).toContain(code);
            expect(met).toBe(pointers.length === 0);
            for (const pointer of pointers) expect(pointer).toMatch(/^\/data\/(en|fr|ar)\//);
          }
      }),
    );
  });
});
