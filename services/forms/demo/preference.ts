import type { DemoModel } from './models.ts';

const frequency: DemoModel = {
  type: 'preference',
  key: 'preference.001',
  name: 'How often',
  description: 'One of three.',
  data: {
    en: {
      label: 'How often would you like to hear from us?',
      description: 'It applies to all letters that you said yes to.',
      options: ['Every week', 'Once a month', 'When a new season opens'],
      valueType: 'RADIO_BUTTONS',
    },
    fr: {
      label: 'À quel rythme souhaitez-vous avoir de nos nouvelles ?',
      description: 'Cela vaut pour toutes les lettres que vous avez acceptées.',
      options: ['Chaque semaine', 'Une fois par mois', 'À l’ouverture d’une nouvelle saison'],
      valueType: 'RADIO_BUTTONS',
    },
    ar: {
      label: 'كم مرة تودّ أن تصلك أخبارنا؟',
      description: 'ينطبق ذلك على جميع النشرات التي وافقت عليها.',
      options: ['كل أسبوع', 'مرة في الشهر', 'عند افتتاح كل موسم جديد'],
      valueType: 'RADIO_BUTTONS',
    },
  },
};

const interests: DemoModel = {
  type: 'preference',
  key: 'preference.002',
  name: 'Interests',
  description: 'Several or none.',
  data: {
    en: {
      label: 'What do you like to see?',
      description: 'So that we write to you only about what you care for.',
      options: ['Drama', 'Dance', 'Concerts', 'Shows for children'],
      valueType: 'CHECKBOXES',
    },
    fr: {
      label: 'Qu’aimez-vous voir ?',
      description: 'Pour ne vous écrire qu’à propos de ce qui vous intéresse.',
      options: ['Théâtre', 'Danse', 'Concerts', 'Spectacles jeune public'],
      valueType: 'CHECKBOXES',
    },
    ar: {
      label: 'ما الذي تحب مشاهدته؟',
      description: 'كي لا نراسلك إلا بشأن ما يهمّك.',
      options: ['المسرحيات', 'الرقص', 'الحفلات الموسيقية', 'عروض الأطفال'],
      valueType: 'CHECKBOXES',
    },
  },
};

const wishes: DemoModel = {
  type: 'preference',
  key: 'preference.003',
  name: 'Wishes',
  description: 'Free text, optional.',
  data: {
    en: {
      label: 'Is there something that would make your evening better?',
      description: 'An aisle seat, a later start, a play that you miss: tell us in your own words.',
      valueType: 'FREE_TEXT',
      optional: true,
    },
    fr: {
      label: 'Qu’est-ce qui rendrait votre soirée plus agréable ?',
      description:
        'Une place côté couloir, un horaire plus tardif, une pièce qui vous manque : dites-le avec vos mots.',
      valueType: 'FREE_TEXT',
      optional: true,
    },
    ar: {
      label: 'ما الذي يجعل أمسيتك أجمل؟',
      description: 'مقعد بجانب الممر، أو موعد متأخر، أو مسرحية تفتقدها: أخبرنا بكلماتك.',
      valueType: 'FREE_TEXT',
      optional: true,
    },
  },
};

export const preference: DemoModel[] = [frequency, interests, wishes];
