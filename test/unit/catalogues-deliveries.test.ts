import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const services = path.join(import.meta.dirname, '..', '..', 'services');
const files = readdirSync(services, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /\/locales\/(en|fr|ar)\.json$/.test(file),
);

/** Messages that say how far a part, a message or a notice has come. */
const ofDeliveries =
  /^(partState|noticeState|messageStatus|deliveryStatus|part|recipient|webhookAction\.peer\.submission)\b/;
/** What pages call the answers of people. */
const answers: Record<string, RegExp> = {
  en: /\b(accept|refus)/i,
  fr: /\b(accept|refus)/i,
  ar: /مقبول|قبول|قبلت|قبل المالك|رفض/,
};

describe('the state of a delivery', () => {
  it.each(Object.keys(answers))('does not read like the answer of a person in %s', (language) => {
    const found = files
      .filter((file) => file.endsWith(`/${language}.json`))
      .flatMap((file) => {
        const words = JSON.parse(readFileSync(path.join(services, file), 'utf8')) as Record<string, string>;
        return Object.entries(words)
          .filter(([key, text]) => ofDeliveries.test(key) && answers[language]?.test(text))
          .map(([key, text]) => `${file} ${key}: ${text}`);
      });
    expect(files.length).toBeGreaterThan(20);
    expect(found).toEqual([]);
  });
});
