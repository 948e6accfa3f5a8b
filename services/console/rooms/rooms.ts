import { audit } from './audit/routes.ts';
import { campaigns } from './campaigns/routes.ts';
import { elements } from './elements/routes.ts';
import { forms } from './forms/routes.ts';
import { home } from './home/routes.ts';
import { integration } from './integration/routes.ts';
import { receipts } from './receipts/routes.ts';
import type { Room } from './room.ts';
import { settings } from './settings/routes.ts';
import { subjects } from './subjects/routes.ts';
import { transactions } from './transactions/routes.ts';

/** The places of the console, in the order of the navigation. A new place is one folder and one entry. */
export const rooms: readonly Room[] = [
  home,
  elements,
  forms,
  subjects,
  campaigns,
  transactions,
  receipts,
  integration,
  settings,
  audit,
];
