import type { DemoModel } from './demo-model.ts';

/** Pages derive their colours from the accent and keep the contrast of texts whatever it is. */
const css = `.accord {
  --accord-accent: #8a2f5b;
  --accord-radius: 0.25rem;
}
h1 {
  letter-spacing: -0.01em;
}
`;

export const theme: DemoModel = {
  type: 'theme',
  key: 'theme.001',
  name: 'Velvet',
  description: 'The colours of the house.',
  data: {
    en: { name: 'Velvet', css },
    fr: { name: 'Velours', css },
    ar: { name: 'مخمل', css },
  },
};
