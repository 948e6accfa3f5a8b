import type { DemoModel } from './demo-model.ts';

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
        '<p>Welcome to Riverside Theatre. You have just booked with us for the first time, so we would like to know what we may do with your data beyond your tickets.</p><p><strong>Nothing here is needed for your booking.</strong> Say yes or no to each question; your seats stay yours either way.</p>',
      footer:
        '<p>You may see, correct or erase your data and change your mind at any time, free of charge. Our data protection officer, Claire Morel, answers within a week. You may also turn to the French supervisory authority, the <a href="https://www.cnil.fr/en">CNIL</a>.</p>',
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
        '<p>Bienvenue au Théâtre de la Rive. Vous venez de réserver chez nous pour la première fois : nous aimerions savoir ce que nous pouvons faire de vos données, au-delà de vos billets.</p><p><strong>Rien de ce qui suit n’est nécessaire à votre réservation.</strong> Répondez oui ou non à chaque question ; dans tous les cas, vos places restent les vôtres.</p>',
      footer:
        '<p>Vous pouvez consulter, corriger ou faire effacer vos données et changer d’avis à tout moment, sans frais. Notre déléguée à la protection des données, Claire Morel, vous répond sous une semaine. Vous pouvez aussi vous adresser à la <a href="https://www.cnil.fr/fr">CNIL</a>.</p>',
      jurisdiction: 'Union européenne',
      scope: 'Spectateurs du Théâtre de la Rive et lecteurs de son site',
      dataController: {
        company: 'Théâtre de la Rive',
        info: 'Déléguée à la protection des données : Claire Morel',
        ...contact,
      },
      privacyPolicyUrl: policy,
      customPrivacyPolicyText: 'Notre politique de confidentialité',
      ...visible,
    },
    ar: {
      title: 'بياناتك، والقرار لك',
      header:
        '<p>مرحبًا بك في مسرح الضفة. هذا أول حجز لك معنا، ونودّ أن نعرف ما الذي تسمح لنا بفعله ببياناتك، إلى جانب إصدار تذاكرك.</p><p><strong>لا شيء مما يلي شرط لحجزك.</strong> أجب عن كل سؤال بالقبول أو الرفض، ومقاعدك محفوظة في الحالتين.</p>',
      footer:
        '<p>يمكنك الاطلاع على بياناتك أو تصحيحها أو طلب محوها، كما يمكنك تغيير رأيك في أي وقت ومن دون أي رسوم. تجيبك مسؤولة حماية البيانات لدينا، كلير موريل، في غضون أسبوع. ولك أيضًا أن تتوجه إلى الهيئة الفرنسية لحماية البيانات <a href="https://www.cnil.fr/en">CNIL</a>.</p>',
      jurisdiction: 'الاتحاد الأوروبي',
      scope: 'جمهور مسرح الضفة وزوّار موقعه الإلكتروني',
      dataController: { company: 'مسرح الضفة', info: 'مسؤولة حماية البيانات: كلير موريل', ...contact },
      privacyPolicyUrl: policy,
      customPrivacyPolicyText: 'سياسة الخصوصية لدينا',
      ...visible,
    },
  },
};
