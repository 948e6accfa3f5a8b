import { domainToASCII } from 'node:url';

/** The domain of a parsed address in ASCII and lower case (IDNA). */
export function mailDomain(address: string): string {
  return domainToASCII(address.slice(address.lastIndexOf('@') + 1));
}

/**
 * The mailbox of a parsed address: equal for all spellings of its domain, in upper and lower case, for
 * compatible forms of letters, and for all sub-addresses (RFC 5233). Mail servers hardly ever distinguish the
 * case of the local part, although RFC 5321 §2.4 allows it. Google ignores dots, too.
 */
export function mailboxOf(address: string): string {
  const domain = mailDomain(address);
  const local = address.slice(0, address.lastIndexOf('@')).normalize('NFKC').toLowerCase().normalize('NFKC');
  const user = /^[^+]+/.exec(local)?.[0] ?? local;
  const isGoogle = domain === 'gmail.com' || domain === 'googlemail.com';
  return isGoogle ? `${user.replaceAll('.', '')}@gmail.com` : `${user}@${domain}`;
}
