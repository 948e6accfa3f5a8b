/** Longest sentences that most people read with ease, in words on average. */
const maxWords = 25;
/** A text of a few words, such as a list of data, is no sentence. */
const fewestWords = 60;

type Texts = Readonly<Record<string, unknown>>;

/** Whether a content has enough text for a statement about its sentences. */
export function hasSentences(content: Texts): boolean {
  return count(content).words >= fewestWords;
}

/**
 * Whether the sentences of a content are short. The number of words is a measure that holds for all languages
 * with spaces between words; formulas of syllables hold for one language each.
 */
export function isEasyToRead(content: Texts): boolean {
  const { words, sentences } = count(content);
  return words <= maxWords * sentences;
}

function count(content: Texts): { words: number; sentences: number } {
  const texts = Object.values(content).filter((value) => typeof value === 'string');
  const counted = texts.flatMap(sentencesOf).map(countWords);
  return { words: counted.reduce((sum, words) => sum + words, 0), sentences: counted.length };
}

/** The sentences of a text; the end of a paragraph of rich text ends its sentence. */
function sentencesOf(text: string): string[] {
  const plain = text.replaceAll(/<\/(?:p|li|h[1-6]|td|th)>|<br ?\/?>/g, '\n').replaceAll(/<[^<>]*>/g, ' ');
  return plain.split(/[.!?…؟。](?=\s|$)|\n/).filter((sentence) => countWords(sentence) > 0);
}

function countWords(sentence: string): number {
  return sentence.split(/\s+/).filter(Boolean).length;
}
