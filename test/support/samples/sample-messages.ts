import type { MessageContent, MessageKind } from '#lib/contracts/messages.ts';
import type { MailModel } from '../../../services/forms/pages/message-parts.ts';
import { type SampleLanguage, sampleInformation } from './sample-content.ts';

export const messageKinds = [
  'invitation',
  'code',
  'notification',
  'bad-news',
  'withdrawal',
  'campaign',
] as const;

const baseUrl = 'https://consent.riverside.example';

/** A message of each kind. @param changes of its facts. */
export function sampleMessage(
  kind: MessageKind,
  language: SampleLanguage,
  changes: Partial<MessageContent> = {},
): MessageContent {
  const isCode = kind === 'code';
  return {
    kind,
    channel: 'mail',
    languages: [language],
    instance: { name: 'Riverside Clinic', baseUrl, timeZone: 'Europe/Paris' },
    organisation: 'Riverside Clinic',
    purpose: sampleInformation(language).content.title,
    model: null,
    theme: null,
    link: isCode ? null : `${baseUrl}/consents/6Yd3kQ2mWzX8RtB5vNcJ1a?t=${'eyJhbGciOiJIUzI1NiJ9'.repeat(6)}`,
    code: isCode ? '042519' : null,
    minutes: isCode ? 10 : null,
    until: isCode || kind === 'bad-news' ? null : '2025-05-17T10:00:00Z',
    owners:
      kind === 'bad-news'
        ? [
            { name: 'Laboratoire du Port', elements: [{ title: 'Recherche & statistiques', lang: 'fr' }] },
            { name: 'Northern Lab', late: true, elements: [{ title: 'A study', lang: 'en' }] },
          ]
        : [],
    ...(kind === 'campaign' && {
      campaign: {
        reason: 'CHANGED',
        isReminder: false,
        unsubscribe: `${baseUrl}/choices/unsubscribe?t=AZehoPNvfiuhyQ2Of2pbTA.x0Tn1mB3l7q9aQxYvZ2c5g`,
      },
    }),
    ...changes,
  };
}

/** A model with every member, every placeholder and every kind of link. */
export const sampleMail: MailModel = {
  subject: 'A message of {organisation}',
  title: 'Dear patient of {organisation}',
  body: `<h2>What this is about</h2><p>Your code is {code}, good for {minutes} minutes; {other} and {} are text.</p>
    <ul><li>Open <a href="{link}">your form</a></li><li>or {link}</li></ul>
    <p><a href="https://riverside.example/help">Help</a>, <a href="http://riverside.example/old">an old page</a>,
    <a href="mailto:privacy@riverside.example">our officer</a>.</p>`,
  buttonLabel: 'To {organisation}',
  signature: '<p>Yours,<br><strong>{organisation}</strong></p>',
  footer: '<p>Riverside Clinic, 8 Quai des Tisserands</p>',
};
