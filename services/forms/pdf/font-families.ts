/** A font family. All have licences that allow embedding them in documents (ADR 21). */
export interface FontFamily {
  /** As its files name it. */
  name: string;
  /** The files, regular first. @throws Error if the package is not installed. */
  files: () => string[];
}

const beside = (url: string, file: string) => new URL(file, url).href;

/** Families of all documents, by preference: Latin and Arabic, emoji. */
export const firstFamilies: readonly FontFamily[] = [
  {
    name: 'Vazirmatn',
    files: () => [
      import.meta.resolve('@expo-google-fonts/vazirmatn/400Regular/Vazirmatn_400Regular.ttf'),
      import.meta.resolve('@expo-google-fonts/vazirmatn/700Bold/Vazirmatn_700Bold.ttf'),
    ],
  },
  {
    name: 'Noto Emoji',
    files: () => [import.meta.resolve('@expo-google-fonts/noto-emoji/400Regular/NotoEmoji_400Regular.ttf')],
  },
];

/** The family of all documents that draws other alphabets. */
export const otherAlphabets: FontFamily = {
  name: 'DejaVu Sans',
  files: () => [
    import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
    import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
  ],
};

/** The preferred family of identifiers in all documents. */
export const codeFamily: FontFamily = {
  name: 'DejaVu Sans Mono',
  files: () => [import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf')],
};

/** Families that are read once a text has such a character; preferred to `otherAlphabets`. */
export const scriptFamilies: readonly (FontFamily & { draws: RegExp })[] = [
  {
    name: 'Noto Sans Hebrew',
    draws: /\p{scx=Hebr}/u,
    files: () => [
      import.meta.resolve('@expo-google-fonts/noto-sans-hebrew/400Regular/NotoSansHebrew_400Regular.ttf'),
      import.meta.resolve('@expo-google-fonts/noto-sans-hebrew/700Bold/NotoSansHebrew_700Bold.ttf'),
    ],
  },
  {
    name: 'Noto Sans Georgian',
    draws: /\p{scx=Geor}/u,
    files: () => [
      import.meta.resolve('@expo-google-fonts/noto-sans-georgian/400Regular/NotoSansGeorgian_400Regular.ttf'),
      import.meta.resolve('@expo-google-fonts/noto-sans-georgian/700Bold/NotoSansGeorgian_700Bold.ttf'),
    ],
  },
  {
    name: 'Noto Sans Devanagari',
    draws: /\p{scx=Deva}/u,
    files: () => [
      import.meta.resolve(
        '@expo-google-fonts/noto-sans-devanagari/400Regular/NotoSansDevanagari_400Regular.ttf',
      ),
      import.meta.resolve('@expo-google-fonts/noto-sans-devanagari/700Bold/NotoSansDevanagari_700Bold.ttf'),
    ],
  },
  {
    name: 'Noto Sans Tamil',
    draws: /\p{scx=Taml}/u,
    files: () => [
      import.meta.resolve('@expo-google-fonts/noto-sans-tamil/400Regular/NotoSansTamil_400Regular.ttf'),
      import.meta.resolve('@expo-google-fonts/noto-sans-tamil/700Bold/NotoSansTamil_700Bold.ttf'),
    ],
  },
  {
    name: 'Noto Sans Thai',
    draws: /\p{scx=Thai}/u,
    files: () => [
      import.meta.resolve('@expo-google-fonts/noto-sans-thai/400Regular/NotoSansThai_400Regular.ttf'),
      import.meta.resolve('@expo-google-fonts/noto-sans-thai/700Bold/NotoSansThai_700Bold.ttf'),
    ],
  },
  {
    name: 'Noto Sans Ethiopic',
    draws: /\p{scx=Ethi}/u,
    files: () => [
      import.meta.resolve('@expo-google-fonts/noto-sans-ethiopic/400Regular/NotoSansEthiopic_400Regular.ttf'),
      import.meta.resolve('@expo-google-fonts/noto-sans-ethiopic/700Bold/NotoSansEthiopic_700Bold.ttf'),
    ],
  },
];

/** What Chinese, Japanese and Korean are written with, punctuation and letters of full width included. */
export const eastAsian =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\u3000-\u303f\u3200-\u33ff\ufe30-\ufe4f\uff00-\uffef]/u;

/**
 * Families for `eastAsian`, by the script of a language (ISO 15924). Languages draw the same character
 * differently. The order is that for texts in another language: by the number of characters.
 */
export const eastAsianFamilies: ReadonlyMap<string, FontFamily> = new Map([
  [
    'Hans',
    {
      name: 'Noto Sans S Chinese',
      files: () => [
        beside(import.meta.resolve('@embedpdf/fonts-sc'), '../fonts/NotoSansHans-Regular.otf'),
        beside(import.meta.resolve('@embedpdf/fonts-sc'), '../fonts/NotoSansHans-Bold.otf'),
      ],
    },
  ],
  [
    'Kore',
    {
      name: 'Noto Sans Korean',
      files: () => [
        beside(import.meta.resolve('@embedpdf/fonts-kr'), '../fonts/NotoSansKR-Regular.otf'),
        beside(import.meta.resolve('@embedpdf/fonts-kr'), '../fonts/NotoSansKR-Bold.otf'),
      ],
    },
  ],
  [
    'Hant',
    {
      name: 'Noto Sans T Chinese',
      files: () => [
        beside(import.meta.resolve('@embedpdf/fonts-tc'), '../fonts/NotoSansHant-Regular.otf'),
        beside(import.meta.resolve('@embedpdf/fonts-tc'), '../fonts/NotoSansHant-Bold.otf'),
      ],
    },
  ],
  [
    'Jpan',
    {
      name: 'Noto Sans Japanese',
      files: () => [
        beside(import.meta.resolve('@embedpdf/fonts-jp'), '../fonts/NotoSansJP-Regular.otf'),
        beside(import.meta.resolve('@embedpdf/fonts-jp'), '../fonts/NotoSansJP-Bold.otf'),
      ],
    },
  ],
]);
