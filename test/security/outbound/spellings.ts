/**
 * An IPv4 address in the ways in which browsers, getaddrinfo and people write it; each is read as the same
 * address.
 */
export function spellings(address: string): string[] {
  const octets = address.split('.').map(Number) as [number, number, number, number];
  const [a, b, c, d] = octets;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (value: number) => `0x${value.toString(16)}`;
  const octal = (value: number) => `0${value.toString(8)}`;
  const inDigits = (zero: number) =>
    address.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
  return [
    address,
    `${address}.`,
    String(number),
    `${number}.`,
    hex(number),
    `0X${number.toString(16).toUpperCase()}`,
    `0x00000000${number.toString(16)}`,
    octal(number),
    `000000${octal(number)}`,
    octets.map(hex).join('.'),
    octets.map(octal).join('.'),
    octets.map((octet) => `0000${octet.toString(8)}`).join('.'),
    `${hex(a)}.${b}.${octal(c)}.${d}`,
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${hex(a)}.${hex((b * 256 + c) * 256 + d)}`,
    `${octal(a)}.${octal((b * 256 + c) * 256 + d)}`,
    // Full-width, mathematical and circled signs become ASCII (UTS #46).
    inDigits(0xff10),
    inDigits(0x1d7ce),
    address.replaceAll('.', '\u3002'),
    address.replaceAll('.', '\uff0e'),
    address.replaceAll('.', '\uff61'),
    address.replaceAll('.', '%2e'),
    [...address].map((sign) => `%${sign.charCodeAt(0).toString(16)}`).join(''),
    address.replace(/[1-9]/g, (digit) => String.fromCodePoint(0x2460 + Number(digit) - 1)),
    address.replace('.', '\u00ad.'),
  ];
}

/** IPv6 addresses that bring a translator or a tunnel to an IPv4 address. */
export function embeddings(address: string): string[] {
  const octets = address.split('.').map(Number);
  const pair = (first: number) =>
    (((octets[first] as number) << 8) | (octets[first + 1] as number)).toString(16);
  const inverse = (first: number) =>
    (0xffff ^ (((octets[first] as number) << 8) | (octets[first + 1] as number))).toString(16);
  const [high, low] = [pair(0), pair(2)];
  return [
    `::ffff:${address}`,
    `::FFFF:${high}:${low}`,
    `0:0:0:0:0:ffff:${high}:${low}`,
    `::ffff:0:${high}:${low}`,
    `::${address}`,
    `64:ff9b::${address}`,
    `64:ff9b::${high}:${low}`,
    `0064:ff9b:0000::${high}:${low}`,
    `64:ff9b:1::${high}:${low}`,
    `64:ff9b:1:${high}:${(octets[2] as number).toString(16)}:${((octets[3] as number) << 8).toString(16)}::`,
    `2002:${high}:${low}::1`,
    `2002:${high}:${low}:1::${high}:${low}`,
    `2001:0:${high}:${low}::f7f7:f7f7`,
    `2001:0:808:808:8000:0:${inverse(0)}:${inverse(2)}`,
    `2a00:1450:4001:81b:0:5efe:${high}:${low}`,
    `2a00:1450:4001:81b:200:5efe:${high}:${low}`,
  ];
}
