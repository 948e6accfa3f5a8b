import { makeValidator } from 'envalid';
import { maskCredentials } from '#lib/config/mask-credentials.ts';

/** Where mail goes: an SMTP server, or the log. */
export const mailUrl = makeValidator<string>((text) => {
  if (text === 'log' || isAddress(text, /^smtps?:$/)) return text;
  throw new Error(
    `must be log, or like smtp://user:password@mail.example.org:587 (it is "${maskCredentials(text)}")`,
  );
});

/** Where text messages go: a gateway that takes HTTP requests, or the log. */
export const smsUrl = makeValidator<string>((text) => {
  if (text === 'log' || isAddress(text, /^https?:$/)) return text;
  throw new Error(
    `must be log, or an http or https address such as https://sms.example.org/send (it is "${maskCredentials(text)}")`,
  );
});

function isAddress(text: string, protocol: RegExp): boolean {
  const url = URL.parse(text);
  return url !== null && protocol.test(url.protocol) && url.hostname !== '';
}

/** Whom mail comes from, e.g. `Accord <consent@example.org>`. */
export const mailSender = makeValidator<string>((text) => {
  const sender = text.trim();
  if (isMailbox(sender)) return sender;
  throw new Error(`must be like consent@example.org or Accord <consent@example.org> (it is "${text}")`);
});

/** Senders that a context may name for its codes: mail addresses, and telephone numbers for text messages. */
export const senderList = makeValidator<string[]>((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map((item) => {
      if (isMailbox(item) || /^\+?\d[\d ]{2,18}$/.test(item)) return item;
      throw new Error(
        `must be addresses such as consent@example.org, or telephone numbers, separated by commas ("${item}" is none)`,
      );
    }),
);

/** An address alone or behind a name; nothing that could begin another header of a mail. */
function isMailbox(text: string): boolean {
  const address = /^[^<>\p{Cc}]*<([^<>]+)>$/u.exec(text)?.[1] ?? text;
  return address.length <= 254 && /^[^\s@<>,;:"\\\p{Cc}]+@[^\s@<>,;:"\\\p{Cc}]+$/u.test(address);
}
