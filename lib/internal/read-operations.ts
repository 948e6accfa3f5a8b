import type { InternalOperations } from '#lib/contracts/operations.ts';

/**
 * Operations that change nothing. Who asks for one does not wait for long for a replica that may be asleep, but asks another one; the others
 * may be called again too, but only when it is certain that nobody works on them any more.
 */
export const readOperations: {
  readonly [Service in keyof InternalOperations]: readonly (keyof InternalOperations[Service])[];
} = {
  auth: ['introspect'],
  forms: [
    'resolveLayout', 'describeForm', 'renderForm', 'checkAnswers', 'checkSubmission', 'activeVersions', 'theme', 'renderPage', 'labelForm', 'sharedEntries',
  ],
  transactions: ['readSubmissions', 'readDecision'],
}; // biome-ignore format: one glance
