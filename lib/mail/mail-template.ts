import { loadTemplates, type Template } from '#lib/pages/load-templates.ts';

/** Loads the template of all mails: a sender, a card with texts and perhaps a code and a button, a footer. */
export function loadMailTemplate(): Template {
  return loadTemplates(new URL('views/', import.meta.url), ['message']).message;
}
