import type { ModelType } from '../domain/model.ts';

/** A model of the demonstration (docs/operations.md, "Settings"), ACTIVE 1.0 from the first start on. */
export interface DemoModel {
  type: ModelType;
  key: string;
  name: string;
  description: string;
  default?: boolean;
  /** Complete in each of the three languages that pages have. */
  data: Record<'en' | 'fr' | 'ar', Record<string, unknown>>;
}

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

export const conditions: DemoModel = {
  type: 'conditions',
  key: 'conditions.001',
  name: 'Season card',
  description: 'Conditions of the season card.',
  data: {
    en: {
      title: 'Conditions of the season card',
      body: '<p>The season card gives you a seat at six shows of your choice from September to June.</p><ul><li>It is yours alone. If you cannot come, you may give a single evening to a friend.</li><li>Seats can be exchanged free of charge until 6 pm on the day before the show.</li><li>If we cancel a show, you get a seat at another one or your money back, as you prefer.</li><li>You may return the card within 14 days if you have not used it.</li></ul><p>It ends by itself in June; nothing is renewed without asking you.</p>',
      acceptLabel: 'I agree',
      rejectLabel: 'I do not agree',
    },
    fr: {
      title: 'Conditions de la carte de saison',
      body: '<p>La carte de saison vous donne une place pour six spectacles de votre choix, de septembre à juin.</p><ul><li>Elle est nominative. Si vous ne pouvez pas venir, vous pouvez offrir une soirée à un proche.</li><li>Les places s’échangent sans frais jusqu’à 18 heures la veille du spectacle.</li><li>Si nous annulons un spectacle, vous choisissez : une place pour un autre, ou le remboursement.</li><li>Vous pouvez rendre la carte sous 14 jours si vous ne l’avez pas utilisée.</li></ul><p>Elle prend fin d’elle-même en juin ; rien n’est renouvelé sans votre accord.</p>',
      acceptLabel: 'J’accepte',
      rejectLabel: 'Je n’accepte pas',
    },
    ar: {
      title: 'شروط بطاقة الموسم',
      body: '<p>تمنحك بطاقة الموسم مقعدًا في ستة عروض من اختيارك، من سبتمبر إلى يونيو.</p><ul><li>البطاقة شخصية. وإذا تعذّر عليك الحضور، فيمكنك إهداء أمسية واحدة إلى صديق.</li><li>يمكن تبديل المقاعد مجانًا حتى السادسة من مساء اليوم السابق للعرض.</li><li>إذا ألغينا عرضًا، فلك أن تختار بين مقعد في عرض آخر واسترداد ما دفعته.</li><li>يمكنك إرجاع البطاقة خلال 14 يومًا ما لم تستخدمها.</li></ul><p>تنتهي البطاقة من تلقاء نفسها في يونيو، ولا يُجدَّد شيء من دون موافقتك.</p>',
      acceptLabel: 'أوافق',
      rejectLabel: 'لا أوافق',
    },
  },
};

const sender = 'Riverside Theatre <hello@riverside-theatre.example>';

export const email: DemoModel = {
  type: 'email',
  key: 'email.001',
  name: 'Receipt of your choices',
  description: 'Sent after the answers.',
  data: {
    en: {
      sender,
      subject: 'Your choices at Riverside Theatre',
      title: 'Thank you, your choices are kept',
      body: '<p>You have told us what we may do with your data, and we will keep to it.</p><p>The button below opens your receipt. From there you can change your mind whenever you like.</p>',
      buttonLabel: 'See my receipt',
      signature: '<p>See you soon,<br>the team of Riverside Theatre</p>',
      footer: '<p>You get this letter because you answered our questions. It is no advertisement.</p>',
    },
    fr: {
      sender,
      subject: 'Vos choix au Théâtre de la Rive',
      title: 'Merci, vos choix sont enregistrés',
      body: '<p>Vous nous avez dit ce que nous pouvons faire de vos données, et nous nous y tiendrons.</p><p>Le bouton ci-dessous ouvre votre reçu. De là, vous pouvez changer d’avis quand vous le souhaitez.</p>',
      buttonLabel: 'Voir mon reçu',
      signature: '<p>À bientôt,<br>l’équipe du Théâtre de la Rive</p>',
      footer:
        '<p>Vous recevez ce message parce que vous avez répondu à nos questions. Ce n’est pas une publicité.</p>',
    },
    ar: {
      sender,
      subject: 'اختياراتك في مسرح الضفة',
      title: 'شكرًا لك، لقد حفظنا اختياراتك',
      body: '<p>أخبرتنا بما تسمح لنا بفعله ببياناتك، وسنلتزم به.</p><p>يفتح الزر أدناه إيصالك، ومنه يمكنك تغيير رأيك متى شئت.</p>',
      buttonLabel: 'عرض الإيصال',
      signature: '<p>إلى اللقاء،<br>فريق مسرح الضفة</p>',
      footer: '<p>وصلتك هذه الرسالة لأنك أجبت عن أسئلتنا، وهي ليست إعلانًا.</p>',
    },
  },
};
