import { hostName } from '#lib/text/host-name.ts';

/** Where a peer is, or why that cannot be one's address. */
export type PeerAddress = { origin: string } | { fault: string };

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Reads a peer's base URL: an origin without a path, https (docs/interface.md, federation.md).
 * @param own this instance's base URL. @param plainLoopback whether http is good for this machine (standalone).
 */
export function readPeerAddress(
  text: string,
  { own, plainLoopback }: { own: string; plainLoopback: boolean },
): PeerAddress {
  if (!URL.canParse(text))
    return { fault: 'The address of a peer is a URL, such as https://consent.example.org.' };
  const url = new URL(text);
  if (url.username || url.password)
    return { fault: 'The address of a peer has no user name and no password.' };
  if (url.pathname !== '/' || url.search || url.hash || /[?#]/.test(text))
    return { fault: 'The address of a peer ends after the host and port.' };
  if (!hostName.test(url.hostname))
    return { fault: 'The address of a peer has a host that no name server has.' };
  const plain = url.protocol === 'http:' && plainLoopback && loopback.test(url.hostname);
  if (url.protocol !== 'https:' && !plain) return { fault: 'The address of a peer begins with https://.' };
  if (url.origin === own) return { fault: 'An instance cannot be its own peer.' };
  return { origin: url.origin };
}
