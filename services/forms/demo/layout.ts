import type { DemoModel } from './demo-model.ts';

const structure = {
  type: 'layout',
  info: 'information.001',
  elements: ['processing.001', 'processing.002', 'preference.001'],
  orientation: 'VERTICAL',
};

export const layout: DemoModel = {
  type: 'layout',
  key: 'layout.001',
  name: 'First visit',
  description: 'What first-time visitors are asked.',
  data: {
    en: { ...structure, submitText: 'Save my choices' },
    fr: { ...structure, submitText: 'Enregistrer mes choix' },
    ar: { ...structure, submitText: 'حفظ اختياراتي' },
  },
};
