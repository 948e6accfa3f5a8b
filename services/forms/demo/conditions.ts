import type { DemoModel } from './demo-model.ts';

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
