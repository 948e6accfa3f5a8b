import type {
  ConditionsContent,
  FormElement,
  FormInformation,
  InformationContent,
  PreferenceContent,
  ProcessingContent,
} from '#lib/contracts/form-content.ts';

/** Languages that sample pages exist in. */
export const sampleLanguages = ['en', 'fr', 'ar'] as const;
export type SampleLanguage = (typeof sampleLanguages)[number];

type Texts<Content> = Record<SampleLanguage, Omit<Content, 'lang'>>;

const controller = {
  company: 'Riverside Clinic',
  info: 'Jeanne Marchal',
  address: '12 Quai des Saules\n33000 Bordeaux',
  email: 'privacy@riverside.example',
  phoneNumber: '+33 5 55 01 02 03',
};

const information: Texts<InformationContent> = {
  en: {
    title: 'How may we use your data?',
    header:
      '<p>You are about to join Riverside Clinic. Before your first visit we would like to know what we may do with your data. <strong>Your care does not depend on your answers.</strong></p>',
    footer: '<p>Your answers are kept with your patient file. You will get a receipt.</p>',
    jurisdiction: 'European Union',
    scope: 'Patients of the clinic and of its out-patient centres',
    dataController: { ...controller, info: 'Data protection officer: Jeanne Marchal' },
  },
  fr: {
    title: 'Comment pouvons-nous utiliser vos données ?',
    header:
      '<p>Vous rejoignez la clinique Riverside. Avant votre première visite, nous souhaitons savoir ce que nous pouvons faire de vos données. <strong>Vos soins ne dépendent pas de vos réponses.</strong></p>',
    footer: '<p>Vos réponses sont conservées avec votre dossier. Vous recevrez un reçu.</p>',
    jurisdiction: 'Union européenne',
    scope: 'Patients de la clinique et de ses centres de consultation',
    dataController: { ...controller, info: 'Déléguée à la protection des données : Jeanne Marchal' },
  },
  ar: {
    title: 'كيف يمكننا استخدام بياناتك؟',
    header:
      '<p>أنت على وشك الانضمام إلى عيادة ريفرسايد. قبل زيارتك الأولى نود أن نعرف ما يمكننا فعله ببياناتك. <strong>لا تتوقف رعايتك على إجاباتك.</strong></p>',
    footer: '<p>تُحفظ إجاباتك مع ملفك الطبي. وستحصل على إيصال.</p>',
    jurisdiction: 'الاتحاد الأوروبي',
    scope: 'مرضى العيادة ومراكزها الخارجية',
    dataController: { ...controller, info: 'مسؤولة حماية البيانات: Jeanne Marchal' },
  },
};

const newsletter: Texts<ProcessingContent> = {
  en: {
    title: 'Health newsletter',
    usage: 'Once a month we write to you about prevention, new services and opening hours.',
    data: 'Name and email address',
    retention: { fullText: 'Three years after our last contact' },
    thirdParties: [{ name: 'Postbote', value: 'sends our mail, in Germany' }],
  },
  fr: {
    title: 'Lettre d’information santé',
    usage:
      'Une fois par mois, nous vous écrivons sur la prévention, les nouveaux services et les horaires d’ouverture.',
    data: 'Nom et adresse électronique',
    retention: { fullText: 'Trois ans après notre dernier contact' },
    thirdParties: [{ name: 'Postbote', value: 'envoie nos courriels, en Allemagne' }],
  },
  ar: {
    title: 'النشرة الصحية',
    usage: 'نكتب إليك مرة في الشهر عن الوقاية والخدمات الجديدة ومواعيد العمل.',
    data: 'الاسم وعنوان البريد الإلكتروني',
    retention: { fullText: 'ثلاث سنوات بعد آخر تواصل بيننا' },
    thirdParties: [{ name: 'Postbote', value: 'ترسل بريدنا من ألمانيا' }],
  },
};

const research: Texts<ProcessingContent> = {
  en: {
    title: 'Medical research',
    usage:
      'Your file, without your name, helps teams at the university hospital to study how treatments work.',
    data: 'Diagnoses, treatments and laboratory results',
    retention: { label: 'At most', value: 10, unit: 'YEAR' },
    thirdParties: [
      { name: 'University Hospital of Bordeaux' },
      { name: 'National Health Data Hub', value: 'only studies of public interest' },
    ],
  },
  fr: {
    title: 'Recherche médicale',
    usage:
      'Votre dossier, sans votre nom, aide les équipes du centre hospitalier universitaire à étudier l’effet des traitements.',
    data: 'Diagnostics, traitements et résultats de laboratoire',
    retention: { label: 'Au plus', value: 10, unit: 'YEAR' },
    thirdParties: [
      { name: 'CHU de Bordeaux' },
      { name: 'Plateforme des données de santé', value: 'études d’intérêt public seulement' },
    ],
  },
  ar: {
    title: 'البحث الطبي',
    usage: 'يساعد ملفك، من دون اسمك، فرق المستشفى الجامعي على دراسة أثر العلاجات.',
    data: 'التشخيصات والعلاجات ونتائج المختبر',
    retention: { label: 'على الأكثر', value: 10, unit: 'YEAR' },
    thirdParties: [
      { name: 'مستشفى بوردو الجامعي' },
      { name: 'منصة البيانات الصحية', value: 'دراسات المصلحة العامة فقط' },
    ],
  },
};

const record: Texts<ProcessingContent> = {
  en: {
    title: 'Your patient file',
    usage: 'We keep a file of your visits, as the law asks of every clinic.',
    data: 'Identity, visits and treatments',
    retention: { label: 'Kept for', value: 20, unit: 'YEAR' },
  },
  fr: {
    title: 'Votre dossier de patient',
    usage: 'Nous tenons un dossier de vos visites, comme la loi le demande à chaque clinique.',
    data: 'Identité, visites et traitements',
    retention: { label: 'Conservé', value: 20, unit: 'YEAR' },
  },
  ar: {
    title: 'ملفك الطبي',
    usage: 'نحتفظ بملف لزياراتك كما يطلب القانون من كل عيادة.',
    data: 'الهوية والزيارات والعلاجات',
    retention: { label: 'يُحفظ', value: 20, unit: 'YEAR' },
  },
};

const channel: Texts<PreferenceContent> = {
  en: {
    label: 'How should we remind you of appointments?',
    valueType: 'RADIO_BUTTONS',
    options: ['Email', 'Text message', 'Telephone'],
  },
  fr: {
    label: 'Comment vous rappeler vos rendez-vous ?',
    valueType: 'RADIO_BUTTONS',
    options: ['Courriel', 'SMS', 'Téléphone'],
  },
  ar: {
    label: 'كيف نذكّرك بمواعيدك؟',
    valueType: 'RADIO_BUTTONS',
    options: ['البريد الإلكتروني', 'رسالة نصية', 'الهاتف'],
  },
};

const topics: Texts<PreferenceContent> = {
  en: {
    label: 'What would you like to read about?',
    description: 'We only write about what you choose.',
    valueType: 'CHECKBOXES',
    options: ['Nutrition', 'Sleep', 'Sport and rehabilitation', 'Children’s health'],
  },
  fr: {
    label: 'Quels sujets vous intéressent ?',
    description: 'Nous n’écrivons que sur ce que vous choisissez.',
    valueType: 'CHECKBOXES',
    options: ['Alimentation', 'Sommeil', 'Sport et rééducation', 'Santé des enfants'],
  },
  ar: {
    label: 'عمّ تود أن تقرأ؟',
    description: 'نكتب فقط عما تختاره.',
    valueType: 'CHECKBOXES',
    options: ['التغذية', 'النوم', 'الرياضة وإعادة التأهيل', 'صحة الأطفال'],
  },
};

const site: Texts<PreferenceContent> = {
  en: {
    label: 'Your nearest centre',
    valueType: 'LIST_SINGLE',
    options: ['Bordeaux', 'Libourne', 'Arcachon'],
  },
  fr: {
    label: 'Votre centre le plus proche',
    valueType: 'LIST_SINGLE',
    options: ['Bordeaux', 'Libourne', 'Arcachon'],
  },
  ar: { label: 'أقرب مركز إليك', valueType: 'LIST_SINGLE', options: ['بوردو', 'ليبورن', 'أركاشون'] },
};

const remarks: Texts<PreferenceContent> = {
  en: { label: 'Is there anything we should know?', valueType: 'FREE_TEXT', optional: true },
  fr: { label: 'Y a-t-il quelque chose que nous devrions savoir ?', valueType: 'FREE_TEXT', optional: true },
  ar: { label: 'هل هناك شيء ينبغي أن نعرفه؟', valueType: 'FREE_TEXT', optional: true },
};

const terms: Texts<ConditionsContent> = {
  en: {
    title: 'Terms of the patient portal',
    body: '<h2>1. What the portal is for</h2><p>You can see your appointments and results, and write to our staff. It is <em>not</em> for emergencies: call 112.</p><h2>2. What we ask of you</h2><ul><li>Keep your access to yourself.</li><li>Tell us when your address changes.</li></ul><p>The whole text is on <a href="https://riverside.example/terms">our site</a>.</p>',
    acceptLabel: 'I agree to the terms',
    rejectLabel: 'I do not agree',
  },
  fr: {
    title: 'Conditions du portail des patients',
    body: '<h2>1. À quoi sert le portail</h2><p>Vous y voyez vos rendez-vous et vos résultats, et écrivez à notre équipe. Il ne sert <em>pas</em> aux urgences : appelez le 112.</p><h2>2. Ce que nous vous demandons</h2><ul><li>Gardez vos accès pour vous.</li><li>Signalez-nous tout changement d’adresse.</li></ul><p>Le texte complet est sur <a href="https://riverside.example/terms">notre site</a>.</p>',
    acceptLabel: 'J’accepte les conditions',
    rejectLabel: 'Je ne les accepte pas',
  },
  ar: {
    title: 'شروط بوابة المرضى',
    body: '<h2>1. ما فائدة البوابة</h2><p>ترى فيها مواعيدك ونتائجك وتكتب إلى فريقنا. وهي <em>ليست</em> للطوارئ: اتصل بالرقم 112.</p><h2>2. ما نطلبه منك</h2><ul><li>احتفظ ببيانات الدخول لنفسك.</li><li>أخبرنا عندما يتغير عنوانك.</li></ul><p>النص الكامل على <a href="https://riverside.example/terms">موقعنا</a>.</p>',
    acceptLabel: 'أوافق على الشروط',
    rejectLabel: 'لا أوافق',
  },
};

const shown = {
  dataControllerVisible: true,
  scopeVisible: true,
  jurisdictionVisible: true,
  shortNoticeLinkVisible: true,
};
const links = {
  privacyPolicyUrl: 'https://riverside.example/privacy',
  shortNoticeLink: 'https://riverside.example/privacy/short',
};

/** The information of the sample forms. */
export function sampleInformation(lang: SampleLanguage): FormInformation {
  return item(
    'information',
    'information.001',
    { lang, ...information[lang], ...links, ...shown },
    null,
    {},
  ) as FormInformation;
}

/** Elements of the sample forms, by key. */
export function sampleElements(lang: SampleLanguage): Record<string, FormElement> {
  const decisions = ['accepted', 'refused'];
  const consent = { legalBases: ['LEGAL_BASIS_CONSENT'] };
  const element = (key: string, content: object, answers: string[] | null, more = {}) =>
    item(key.split('.')[0] ?? '', key, { lang, ...content }, answers, more) as FormElement;
  return {
    newsletter: element(
      'processing.001',
      { ...newsletter[lang], ...consent, purposes: ['CONSENT_MARKETING'] },
      decisions,
    ),
    research: element(
      'processing.002',
      {
        ...research[lang],
        ...consent,
        purposes: ['CONSENT_RESEARCH', 'CONSENT_THIRD_PART_SHARING'],
        containsSensitiveData: true,
        containsMedicalData: true,
        dataController: controller,
      },
      decisions,
    ),
    record: element(
      'processing.003',
      {
        ...record[lang],
        purposes: ['CONSENT_CORE_SERVICE'],
        legalBases: ['LEGAL_BASIS_LEGAL_OBLIGATION'],
        refusable: false,
      },
      ['accepted'],
      { required: false },
    ),
    channel: element('preference.001', channel[lang], channel[lang].options ?? []),
    topics: element('preference.002', topics[lang], topics[lang].options ?? [], { multiple: true }),
    remarks: element('preference.003', remarks[lang], null, { required: false }),
    site: element('preference.004', site[lang], site[lang].options ?? []),
    terms: element('conditions.001', terms[lang], decisions),
  };
}

function item(type: string, key: string, content: object, answers: string[] | null, more: object) {
  return {
    identifier: `element/${type}/${key}/1.0`,
    serial: '1.0',
    entry: { key, type, name: key },
    owner: null,
    content,
    answers,
    required: true,
    multiple: false,
    previous: null,
    ...more,
  };
}
