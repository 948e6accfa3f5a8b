import type { DemoModel } from './models.ts';

const marketing = { purposes: ['CONSENT_MARKETING'], legalBases: ['LEGAL_BASIS_CONSENT'] };

const newsletter: DemoModel = {
  type: 'processing',
  key: 'processing.001',
  name: 'Programme letter',
  description: 'News by e-mail.',
  data: {
    en: {
      title: 'The programme letter',
      data: 'Your first name and your e-mail address',
      usage:
        'We write to you about new shows, talks with artists and last-minute seats. Every letter has a link that ends it.',
      retention: {
        value: 3,
        unit: 'YEAR',
        fullText: 'Until you unsubscribe, and at most three years after your last visit',
      },
      thirdParties: [{ name: 'Plume Mail', value: 'sends our letters, from Lyon in France' }],
      ...marketing,
    },
    fr: {
      title: 'La lettre du programme',
      data: 'Votre prénom et votre adresse électronique',
      usage:
        'Nous vous écrivons pour annoncer les nouveaux spectacles, les rencontres avec les artistes et les places de dernière minute. Chaque lettre contient un lien pour y mettre fin.',
      retention: {
        value: 3,
        unit: 'YEAR',
        fullText: 'Jusqu’à votre désinscription, et pendant trois ans maximum après votre dernière visite',
      },
      thirdParties: [{ name: 'Plume Mail', value: 'envoie nos lettres, depuis Lyon' }],
      ...marketing,
    },
    ar: {
      title: 'نشرة البرنامج',
      data: 'اسمك الأول وعنوان بريدك الإلكتروني',
      usage:
        'نراسلك لنخبرك بالعروض الجديدة واللقاءات مع الفنانين والمقاعد المتاحة في اللحظات الأخيرة. وفي كل رسالة رابط لإلغاء الاشتراك.',
      retention: {
        value: 3,
        unit: 'YEAR',
        fullText: 'إلى أن تلغي اشتراكك، وبحد أقصى ثلاث سنوات بعد آخر زيارة لك',
      },
      thirdParties: [{ name: 'Plume Mail', value: 'ترسل نشراتنا من مدينة ليون في فرنسا' }],
      ...marketing,
    },
  },
};

const research = {
  purposes: ['CONSENT_IMPROVED_SERVICE', 'CONSENT_RESEARCH'],
  legalBases: ['LEGAL_BASIS_CONSENT'],
};

const audience: DemoModel = {
  type: 'processing',
  key: 'processing.002',
  name: 'Audience study',
  description: 'What visitors come to see, studied with a university.',
  data: {
    en: {
      title: 'A study of our audience',
      data: 'The shows you book, the year of your birth and the first two digits of your postcode',
      usage:
        'Together with Nantes University we study who comes to see what, so that the next season speaks to more people. The results name no one.',
      retention: { value: 2, unit: 'YEAR', fullText: 'Two years, then only figures remain' },
      thirdParties: [{ name: 'Nantes University', value: 'works out the figures; it never gets your name' }],
      ...research,
    },
    fr: {
      title: 'Une étude de notre public',
      data: 'Les spectacles que vous réservez, votre année de naissance et les deux premiers chiffres de votre code postal',
      usage:
        'Avec l’université de Nantes, nous étudions qui vient voir quoi, pour que la prochaine saison parle à davantage de monde. Les résultats ne nomment personne.',
      retention: {
        value: 2,
        unit: 'YEAR',
        fullText: 'Deux ans, puis seules des statistiques anonymes sont conservées',
      },
      thirdParties: [
        { name: 'Université de Nantes', value: 'établit les statistiques ; elle ne reçoit jamais votre nom' },
      ],
      ...research,
    },
    ar: {
      title: 'دراسة عن جمهورنا',
      data: 'العروض التي تحجزها، وسنة ميلادك، وأول رقمين من رمزك البريدي',
      usage:
        'ندرس مع جامعة نانت ميول جمهورنا وما يختاره من عروض، كي يخاطب الموسم المقبل عددًا أكبر من الناس. ولا تُذكر في النتائج أي أسماء.',
      retention: { value: 2, unit: 'YEAR', fullText: 'سنتان، وبعدهما لا تبقى سوى إحصاءات لا تكشف هويتك' },
      thirdParties: [{ name: 'جامعة نانت', value: 'تُعدّ الإحصاءات، ولا يصلها اسمك أبدًا' }],
      ...research,
    },
  },
};

const contract = {
  purposes: ['CONSENT_CORE_SERVICE'],
  legalBases: ['LEGAL_BASIS_CONTRACT'],
  refusable: false,
};

const booking: DemoModel = {
  type: 'processing',
  key: 'processing.003',
  name: 'Booking',
  description: 'Needed to keep seats: cannot be refused.',
  data: {
    en: {
      title: 'Your booking',
      data: 'Your name, your e-mail address, your seats and what you paid',
      usage:
        'We keep your seats for you, send you your tickets and tell you if a show is moved or cancelled.',
      retention: { value: 10, unit: 'YEAR', fullText: 'Ten years, as the law asks for accounts' },
      ...contract,
    },
    fr: {
      title: 'Votre réservation',
      data: 'Votre nom, votre adresse électronique, vos places et le montant payé',
      usage:
        'Nous gardons vos places, vous envoyons vos billets et vous prévenons si un spectacle est déplacé ou annulé.',
      retention: { value: 10, unit: 'YEAR', fullText: 'Dix ans, comme la loi l’exige pour la comptabilité' },
      ...contract,
    },
    ar: {
      title: 'حجزك',
      data: 'اسمك وعنوان بريدك الإلكتروني ومقاعدك والمبلغ الذي دفعته',
      usage: 'نحفظ مقاعدك، ونرسل إليك تذاكرك، ونخبرك إذا تغيّر موعد عرض أو أُلغي.',
      retention: {
        value: 10,
        unit: 'YEAR',
        fullText: 'عشر سنوات، وفق ما يفرضه القانون على السجلات المحاسبية',
      },
      ...contract,
    },
  },
};

export const processing: DemoModel[] = [newsletter, audience, booking];
