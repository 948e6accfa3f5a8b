import type { DemoModel } from './demo-model.ts';

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
