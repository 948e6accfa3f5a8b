import { loadCatalogues } from '#lib/pages/catalogues.ts';
import { createReader } from '#lib/pages/reader.ts';
import { type ConsoleReader, consoleReader } from '../../../services/console/pages/console-reader.ts';

const tools = loadCatalogues(new URL('../../../services/console/pages/locales/', import.meta.url));

/** A reader of the words that all pages of the console have. */
export function readerOf(language: string): ConsoleReader {
  return consoleReader(createReader(tools.pick(language), 'UTC', language), 'UTC', language);
}
