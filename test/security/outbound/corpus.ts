import { embeddings, spellings } from './spellings.ts';

/** A URL, and why nobody connects to anything for it. */
export type Trap = [url: string, reason: 'address' | 'scheme' | 'credentials' | 'url'];

/** IPv4 addresses within the networks of RFC 6890 and of clouds. */
const inner4 = [
  ...['0.0.0.0', '0.0.0.1', '0.255.255.255', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200'],
  ...['100.127.255.255', '127.0.0.2', '127.255.255.255', '168.63.129.16', '169.254.0.1', '169.254.170.2'],
  ...[
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.0.192',
    '192.0.2.1',
    '192.31.196.1',
    '192.52.193.1',
  ],
  ...['192.88.99.1', '192.168.0.1', '192.168.255.255', '192.175.48.1', '198.18.0.1', '198.19.255.255'],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
];

const inner6 = [
  ...[
    '::',
    '::1',
    '0:0:0:0:0:0:0:1',
    '0000:0000:0000:0000:0000:0000:0000:0001',
    '::2',
    '100::1',
    '100:0:0:1::1',
  ],
  ...['2001::1', '2001:1::1', '2001:2::1', '2001:3::1', '2001:4:112::1', '2001:10::1', '2001:20::1'],
  ...[
    '2001:30::1',
    '2001:1ff::1',
    '2001:db8::1',
    '2001:db8:ffff::1',
    '2002::1',
    '2620:4f:8000::1',
    '3fff::1',
  ],
  ...['4000::1', '5f00::1', '8000::1', 'e000::1', 'f000::1', 'fc00::1', 'fd00:ec2::254', 'fdff:ffff::1'],
  ...['fe80::1', 'fe80:1::1', 'febf::1', 'fec0::1', 'feff::1', 'ff00::1', 'ff02::1', 'ff0e::1', 'ffff::ffff'],
];

const otherSchemes = [
  ...['ftp', 'ws', 'wss', 'gopher', 'ldap', 'dict', 'redis', 'tftp', 'jar', 'unix', 'http+unix', 'httpx'],
  ...['blob:http', 'view-source:http', 'jar:http', 'feed:http', 'about', 'chrome', 'smtp', 'postgresql'],
];

/**
 * Addresses as somebody writes them who wants to reach what only this machine can; whichever are names to a
 * reader resolve to the trap.
 * @param port where the trap is.
 */
export function corpus(port: number): Trap[] {
  const on = (hosts: string[]) => hosts.map((host) => `http://${host}:${port}/`);
  const bracketed = (hosts: string[]) => hosts.map((host) => `[${host}]`);
  const is = (reason: Trap[1], urls: string[]) => urls.map((url): Trap => [url, reason]);
  const traps = [
    ...is(
      'address',
      on([
        ...spellings('127.0.0.1'),
        ...spellings('10.20.30.40'),
        ...spellings('169.254.169.254'),
        ...inner4,
      ]),
    ),
    ...is(
      'address',
      on(['127.1', '127.0.1', '0', '0x0', '00', '0.0', '0x7f.1', '0177.1', '127.0x1', '0x7f000001.']),
    ),
    ...is('address', on(bracketed([...embeddings('127.0.0.1'), ...embeddings('10.1.2.3'), ...inner6]))),
    ...is('address', on(bracketed([...embeddings('8.8.8.8').slice(0, 14)]))),
    ...is(
      'address',
      on([
        '127.0.0.1..',
        'xn--a',
        'localhost',
        'localhost.',
        '127.0.0.1.example',
        '127-0-0-1.example',
        'a_b',
      ]),
    ),
    ...is('address', ways(port)),
    ...is('credentials', strangers(port)),
    ...is(
      'scheme',
      otherSchemes.map((scheme) => `${scheme}://127.0.0.1:${port}/`),
    ),
    ...is('scheme', [
      `file://127.0.0.1/etc/passwd`,
      'file:///etc/passwd',
      'data:text/plain,hi',
      'javascript:0',
    ]),
    ...is('scheme', [`localhost:${port}`, `mailto:a@127.0.0.1`, 'blob:null/1', 'tel:1', 'urn:a:b']),
    ...is('url', unreadable(port)),
  ];
  return [...new Map(traps.map((trap) => [trap[0], trap])).values()];
}

/** The trap's address with everything around it that a URL can have. */
function ways(port: number): string[] {
  const host = `127.0.0.1:${port}`;
  return [
    ...[
      `HTTP://${host}/`,
      `hTTp:\\\\${host}\\`,
      `http:${host}`,
      `http:/${host}`,
      `http:////${host}/`,
      ` http://${host} `,
    ],
    ...[`ht\ntp://${host}/`, `http://127.\t0.0.1:${port}/`, `http://\r\n${host}/`, `\u0000http://${host}/`],
    ...[
      `http://@${host}/`,
      `http://:@${host}/`,
      `http://${host}?@example.org`,
      `http://${host}#@example.org/`,
    ],
    ...[`http://${host}/@example.org`, `http://${host}\\@example.org/`, `http://127.0.0.1:0${port}/`],
    ...[
      `http://127.0.0.1:/`,
      `https://${host}/`,
      `https://[::1]:${port}/`,
      'http://127.0.0.1:22/',
      'http://127.0.0.1:0/',
    ],
    ...[
      'http://127.0.0.1',
      'https://127.0.0.1',
      'http://[::1]',
      'http://127.0.0.1:65535/',
      'http://127.0.0.1:6379/',
    ],
  ];
}

/** With a user name or a password, of which readers take different parts for the host. */
function strangers(port: number): string[] {
  const host = `127.0.0.1:${port}`;
  return [
    ...[
      `http://user@${host}/`,
      `http://user:secret@${host}/`,
      `http://:secret@${host}/`,
      `https://user@${host}/`,
    ],
    ...[`http://example.org@${host}/`, `http://example.org:80@${host}/`, `http://example.org%40@${host}/`],
    ...[
      `http://${host}@example.org/`,
      `http://a@b@${host}/`,
      `http://example.org%2f@${host}/`,
      `http://%00@${host}/`,
    ],
    ...[`http://example.org&@${host}/`, `http://1.1.1.1 @${host}/`, `http://example.org;@${host}/`],
    ...[
      `http://user@[::1]:${port}/`,
      `http://localhost@${host}/`,
      `http://a:b:c@${host}/`,
      `http://é@${host}/`,
    ],
  ];
}

function unreadable(port: number): string[] {
  const hosts = [
    ...[
      '[fe80::1%25eth0]',
      '[fe80::1%eth0]',
      '[::1%lo]',
      '[::1%25]',
      '[::ffff:127.1]',
      '[::127.0.0.1.]',
      '[::1',
      '::1',
    ],
    ...[
      '[1::2::3]',
      '[::ffff:0x7f.0.0.1]',
      '[::ffff:256.0.0.1]',
      '[127.0.0.1]',
      '[]',
      '[::00001]',
      '[v1.a]',
      '[::1]]',
    ],
    ...[
      '256.256.256.256',
      '127.0.0.256',
      '127.0.0.0x100',
      '1.2.3.4.5',
      '4294967296',
      '0x100000000',
      '127.0.0.08',
    ],
    ...['127..0.1', '1..2', '0x7g.1', 'a b', 'a<b', 'a|b', 'a^b', 'exa%mple', '%00', 'a%2fb'],
    ...['127.0.0.1%00.example.org', '127.0.0.1%0a', '127.0.0.1%20'],
  ];
  return [
    ...hosts.map((host) => `http://${host}:${port}/`),
    ...[
      '',
      ' ',
      '/',
      '//',
      `//127.0.0.1:${port}/`,
      `127.0.0.1:${port}`,
      'http',
      'http:',
      'http://',
      'http:///',
      'http://:80/',
    ],
    ...[
      'http://127.0.0.1:65536/',
      'http://127.0.0.1:-1/',
      'http://127.0.0.1:a/',
      `http://127.0.0.1:${port}:80/`,
    ],
    ...[`http://127.0.0.1%3a${port}/`, '\\\\127.0.0.1\\c$', 'https://?', 'https://#', '://127.0.0.1/'],
  ];
}
