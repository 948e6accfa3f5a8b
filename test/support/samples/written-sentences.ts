import type { SampleLanguage } from './sample-content.ts';

const ambulance = '\u{1f691}';
const fire = '\u{1f525}';
const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';

/** Fifty sentences as people write them, by the language of the receipt on which they are printed. */
const sentences: Record<SampleLanguage, readonly string[]> = {
  en: [
    'The office of the first floor files affidavits, waffles and fjord maps.',
    'An efficient staff offers flexible final fittings.',
    'Call +44 20 7946 0018 between 09:30 and 17:45.',
    'Naïve coöperation at the café costs £3.50 (or €4.20).',
    'I agree 😀 to the newsletter ✅ but not to calls 📵.',
    `My family ${family} was told by the ambulance ${ambulance}.`,
    'I like it ❤️ very much, 100 % of it!',
    'Dr. Łukasz Żółć–Øvergård, née Šťastná, of Győr',
    'The form says “I’m sure – no, really…” in quotes.',
    'My name is محمد علي and I live in London.',
    'The clinic مستشفى الأمل opens at 8.',
    'She wrote «نعم» and then «لا» on page 12.',
    'Room 12 (غرفة الانتظار) is on floor 3 (الطابق الثالث).',
    'Write to ann@example.org, or see https://example.org/a?b=c&d=e#f.',
    'Ελληνικά, русский and Türkçe are one line of İstanbul.',
    'Version 2.10.3-rc.1 costs 1,234,567.89 at 5 %/year.',
    'a < b && c > d; {e} [f] "g" \\h\\ $i$ #j @k *l* _m_ ~n~',
  ],
  fr: [
    'L’œuvre du cœur : « déjà vue » à Besançon, où l’été naît.',
    'Les élèves de maternelle goûtent des pâtes aux œufs.',
    'L’affiche officielle offre un fil fluide aux affligés.',
    'Né le 1er août 1979 à Saint-Étienne (Loire).',
    'Ça coûte 1 234,56 € TTC, soit 12,5 % de moins.',
    'Téléphonez au 05 55 01 02 03, de 9 h à 17 h 30.',
    'ÉCRIRE EN CAPITALES ACCENTUÉES : ÀÂÄÇÉÈÊËÎÏÔŒÙÛÜŸÆ.',
    'Je suis d’accord 👍, merci beaucoup 🙏 !',
    'Mon médecin 👩‍⚕️ m’a tout expliqué 😊.',
    'Mon nom est فاطمة الزهراء, née à Marrakech.',
    'La clinique « الشفاء » se trouve au n° 24.',
    'Il répond نعم à 3 questions et لا à 2 autres.',
    'L’hôpital (مستشفى الأطفال) est fermé le 14 juillet.',
    'Adresse : 7 bis, rue de l’Abbé-Grégoire, F-75006 Paris.',
    'Où ? Là-bas ! Pourquoi ? Parce que… voilà ; c’est tout.',
    'Un garçon naïf, une aiguë ambiguë, un maïs haï.',
  ],
  ar: [
    'أوافق على استخدام بياناتي الصحية لأغراض البحث.',
    'لا أوافق على مشاركة بياناتي مع أي طرف آخر.',
    'ولدت في 3 مايو 1979 في مدينة الرباط.',
    'رقم هاتفي 0612345678 ورقم بيتي 24.',
    'رقم الملف ٢٠٢٥ والغرفة ١٢ في الطابق ٣.',
    'الكلفة 1,234.56 درهم أي 12.5 % أقل.',
    'اتصل بنا على +212522123456 بين 9 و17.',
    'بريدي ann@example.org وموقعي https://example.org/a.',
    'اسمي Alice Martin وأسكن في Paris منذ 2010.',
    'قالت Ann: «نعم» ثم قالت «لا» مرتين.',
    'المستشفى (Riverside Clinic 7) مغلق يوم الجمعة.',
    'نعم 😀 أوافق على الرسائل ✅ شكرا.',
    `سيارة الإسعاف ${ambulance} والنار ${fire} بعيدة.`,
    'الله أكبر، لأن الإسلام لآلئ وإلا فلا.',
    'محمد يقرأ كتابا جديدا.',
    'هل توافق؟ نعم، بالتأكيد؛ ولكن ليس الآن!',
    'النسخة v2.10 من الملف form_12.pdf صالحة حتى 2025/11/03.',
  ],
};

/** The sentences, each with the language of its receipt. */
export const writtenSentences = (['en', 'fr', 'ar'] as const).flatMap((language) =>
  sentences[language].map((sentence) => ({ language, sentence })),
);
