import type { DataController } from '#lib/contracts/form-content.ts';
import type { PageContact, PageModel } from '#lib/contracts/pages.ts';
import type { LanguageAttributes, Reader } from './reader.ts';

/** Who is responsible for data: the name is read without opening anything, the rest stands in the details. */
export interface ControllerView {
  company: string | null;
  info: string | null;
  address: string | null;
  email: string | null;
  phoneNumber: string | null;
  /** Whether there is more than the name. */
  more: boolean;
}

/** null if nothing is known of the controller, or it is not to be shown. */
export function controllerView(
  controller: (DataController & PageContact) | null | undefined,
): ControllerView | null {
  if (!controller) return null;
  const { company, info, address, email, phoneNumber } = controller;
  const more = Boolean(info || address || email || phoneNumber);
  if (!company && !more) return null;
  return {
    company: company || null,
    info: info || null,
    address: address || null,
    email: email || null,
    phoneNumber: phoneNumber || null,
    more,
  };
}

/** Who asks, for the masthead and the receipt. null: the instance itself, or not known. */
export function askerView(
  model: PageModel,
  reader: Reader,
): { name: string; attributes: LanguageAttributes } | null {
  const asker = askerOf(model);
  return !asker?.name || asker.name === model.instance.name
    ? null
    : { name: asker.name, attributes: reader.in(asker.lang) };
}

function askerOf(model: PageModel): { name: string | undefined; lang: string } | null | undefined {
  if (model.page === 'form') {
    const content = model.info?.content;
    return content?.dataControllerVisible === false
      ? null
      : content && { name: content.dataController?.company, lang: content.lang };
  }
  if (model.page !== 'receipt') return model.asker;
  const { information, language } = model.receipt;
  const controller = information.texts.dataController as DataController | undefined;
  // What the content hides was not on the page of the form either.
  if (information.texts.dataControllerVisible === false) return null;
  return { name: controller?.company, lang: information.lang ?? language };
}
