/** What an organisation and a person write, in one language. */
export interface ScriptSample {
  script: string;
  language: string;
  /** The title of an element. */
  title: string;
  usage: string;
  /** The person's name, which is the subject. */
  name: string;
  /** Named in the PDF; null: only fonts of all documents. */
  font: string | null;
}

/** One sample for each script that a PDF draws. */
export const scriptSamples: readonly ScriptSample[] = [
  {
    script: 'Latin',
    language: 'cs',
    title: 'Zdravotní zpravodaj',
    usage: 'Píšeme vám jednou za měsíc. Příliš žluťoučký kůň: souhlas můžete kdykoli odvolat.',
    name: 'Zoe\u0308 Žofie Dvořa\u0301ková',
    font: null,
  },
  {
    script: 'Greek',
    language: 'el',
    title: 'Ενημερωτικό δελτίο υγείας',
    usage: 'Σας γράφουμε μία φορά τον μήνα. Μπορείτε να ανακαλέσετε τη συγκατάθεσή σας ανά πάσα στιγμή.',
    name: 'Ελένη Παπαδοπούλου',
    font: 'DejaVuSans',
  },
  {
    script: 'Cyrillic',
    language: 'uk',
    title: 'Новини про здоров’я',
    usage: 'Ми пишемо вам раз на місяць. Ви можете відкликати згоду в будь-який час.',
    name: 'Юрій Їжакевич',
    font: 'DejaVuSans',
  },
  {
    script: 'Hebrew',
    language: 'he',
    title: 'עלון בריאות',
    usage: 'אנו כותבים אליך פעם בחודש. אפשר לחזור מן ההסכמה בכל עת.',
    name: 'נועה כהן',
    font: 'NotoSansHebrew',
  },
  {
    script: 'Arabic',
    language: 'ar',
    title: 'نشرة صحية',
    usage: 'نكتب إليك مرة في الشهر. يمكنك سحب موافقتك في كل وقت.',
    name: 'محمد علي',
    font: 'Vazirmatn',
  },
  {
    script: 'Georgian',
    language: 'ka',
    title: 'ჯანმრთელობის სიახლეები',
    usage: 'თვეში ერთხელ მოგწერთ. თანხმობის გამოხმობა ნებისმიერ დროს შეგიძლიათ.',
    name: 'ნინო ბერიძე',
    font: 'NotoSansGeorgian',
  },
  {
    script: 'Simplified Chinese',
    language: 'zh-Hans',
    title: '健康资讯',
    usage: '我们每月通过电子邮件向您介绍新的服务，您可以随时撤回同意。直骨与海',
    name: '王芳',
    font: 'NotoSansHans',
  },
  {
    script: 'Traditional Chinese',
    language: 'zh-TW',
    title: '健康資訊',
    usage: '我們每月透過電子郵件向您介紹新的服務，您可以隨時撤回同意。直骨與海',
    name: '陳怡君',
    font: 'NotoSansHant',
  },
  {
    script: 'Japanese',
    language: 'ja',
    title: '健康ニュースレター',
    usage: '新しいサービスを月に一度、電子メールでお知らせします。同意は「いつでも」撤回できます。直骨と海',
    name: '佐藤 花子',
    font: 'NotoSansJP',
  },
  {
    script: 'Korean',
    language: 'ko',
    title: '건강 소식지',
    usage: '한 달에 한 번 전자 우편으로 소식을 보냅니다. 동의는 언제든지 철회할 수 있습니다.',
    name: '김민지',
    font: 'NotoSansKR',
  },
  {
    script: 'Devanagari',
    language: 'hi',
    title: 'स्वास्थ्य समाचार पत्र',
    usage: 'हम महीने में एक बार लिखते हैं। आप अपनी सहमति कभी भी वापस ले सकते हैं। क्षत्रिय, द्वितीय, शर्तें',
    name: 'प्रिया शर्मा',
    font: 'NotoSansDevanagari',
  },
  {
    script: 'Tamil',
    language: 'ta',
    title: 'உடல்நலச் செய்திமடல்',
    usage: 'மாதத்திற்கு ஒருமுறை எழுதுகிறோம். உங்கள் ஒப்புதலை எப்போது வேண்டுமானாலும் திரும்பப் பெறலாம்.',
    name: 'கௌரி முருகன்',
    font: 'NotoSansTamil',
  },
  {
    script: 'Thai',
    language: 'th',
    title: 'จดหมายข่าวสุขภาพ',
    usage: 'เราเขียนถึงคุณเดือนละครั้งทางอีเมล คุณถอนความยินยอมได้ทุกเมื่อโดยไม่กระทบสิทธิ์ ญี่ปุ่น ฟื้นฟู น้ำ ปีนี้',
    name: 'สมหญิง ใจดี',
    font: 'NotoSansThai',
  },
  {
    script: 'Amharic',
    language: 'am',
    title: 'የጤና ዜና',
    usage: 'በወር አንድ ጊዜ እንጽፍልዎታለን። ፈቃድዎን በማንኛውም ጊዜ መሰረዝ ይችላሉ።',
    name: 'አበበ በቀለ',
    font: 'NotoSansEthiopic',
  },
];
