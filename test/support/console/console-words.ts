import { loadCatalogues } from '#lib/pages/catalogues.ts';
import { createReader } from '#lib/pages/reader.ts';
import { type ConsoleReader, consoleReader } from '../../../services/console/pages/console-reader.ts';

const kit = loadCatalogues(new URL('../../../services/console/pages/locales/', import.meta.url));

/** A reader of the words that all pages of the console have. */
export function readerOfKit(language: string): ConsoleReader {
  return consoleReader(createReader(kit.pick(language), 'UTC', language), 'UTC', language);
}
