import type { DemoModel } from './models.ts';

const contact = {
  address: '8 Quai des Tisserands\n44000 Nantes\nFrance',
  email: 'privacy@riverside-theatre.example',
  phoneNumber: '+33 2 55 50 01 80',
};
const visible = { dataControllerVisible: true, jurisdictionVisible: true, scopeVisible: true };
const policy = 'https://riverside-theatre.example/privacy';

export const information: DemoModel = {
  type: 'information',
  key: 'information.001',
  name: 'Riverside Theatre: who asks, and why',
  description: 'Introduces every form of the theatre.',
  default: true,
  data: {
    en: {
      title: 'Your data, your choice',
      header:
        '<p>Welcome to Riverside Theatre. You have just booked with us for the first time, so we would like to know what we may do with your data beyond your tickets.</p><p><strong>Your seats are yours, whatever you answer.</strong> Take your time, and choose for each question on its own.</p>',
      footer:
        '<p>Something is unclear? Our data protection officer, Claire Morel, answers within a week. The authority that watches over us is the French <a href="https://www.cnil.fr/en">CNIL</a>.</p>',
      jurisdiction: 'European Union',
      scope: 'Visitors of Riverside Theatre and readers of its web site',
      dataController: {
        company: 'Riverside Theatre',
        info: 'Data protection officer: Claire Morel',
        ...contact,
      },
      privacyPolicyUrl: policy,
      customPrivacyPolicyText: 'Our privacy policy',
      ...visible,
    },
    fr: {
      title: 'Vos données, votre choix',
      header:
        '<p>Bienvenue au Théâtre de la Rive. Vous venez de réserver chez nous pour la première fois : nous aimerions savoir ce que nous pouvons faire de vos données, au-delà de vos billets.</p><p><strong>Vos places sont à vous, quelles que soient vos réponses.</strong> Prenez votre temps et décidez question par question.</p>',
      footer:
        '<p>Quelque chose n’est pas clair ? Notre déléguée à la protection des données, Claire Morel, vous répond sous une semaine. L’autorité qui nous contrôle est la <a href="https://www.cnil.fr/fr">CNIL</a>.</p>',
      jurisdiction: 'Union européenne',
      scope: 'Spectateurs du Théâtre de la Rive et visiteurs de son site',
      dataController: {
        company: 'Théâtre de la Rive',
        info: 'Déléguée à la protection des données : Claire Morel',
        ...contact,
      },
      privacyPolicyUrl: policy,
      customPrivacyPolicyText: 'Notre politique de confidentialité',
      ...visible,
    },
    ar: {
      title: 'بياناتك، والقرار لك',
      header:
        '<p>مرحبًا بك في مسرح الضفة. هذا أول حجز لك معنا، ونودّ أن نعرف ما الذي تسمح لنا بفعله ببياناتك، إلى جانب إصدار تذاكرك.</p><p><strong>مقاعدك محفوظة لك مهما كانت إجاباتك.</strong> خذ وقتك، وقرّر في كل سؤال على حدة.</p>',
      footer:
        '<p>هل هناك ما يحتاج إلى توضيح؟ تجيبك مسؤولة حماية البيانات لدينا، كلير موريل، في غضون أسبوع. والجهة التي تراقب عملنا هي الهيئة الفرنسية لحماية البيانات <a href="https://www.cnil.fr/en">CNIL</a>.</p>',
      jurisdiction: 'الاتحاد الأوروبي',
      scope: 'جمهور مسرح الضفة وزوّار موقعه الإلكتروني',
      dataController: { company: 'مسرح الضفة', info: 'مسؤولة حماية البيانات: كلير موريل', ...contact },
      privacyPolicyUrl: policy,
      customPrivacyPolicyText: 'سياسة الخصوصية لدينا',
      ...visible,
    },
  },
};
