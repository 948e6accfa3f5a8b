import type { DataController } from '#lib/contracts/form-content.ts';
import type { PageContact } from '#lib/contracts/pages.ts';

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
