import { LRUCache } from 'lru-cache';

/** A list element of a header field; a quoted string may contain commas (RFC 9110 §5.6.1, §5.6.4). */
const element = /(?:[^",]|"(?:[^"\\]|\\.)*"?)+/gs;
const quoted = /"(?:[^"\\]|\\.)*"?/gs;
const weight = /;[ \t]*q[ \t]*=[ \t]*([\d.]+)/i;

/**
 * Removes the parameters of all media ranges in an Accept header except their weights. No media type that
 * Accord sends has a parameter that selects a representation: `charset` is always UTF-8. Clients often accept
 * the Content-Type of an earlier response, which has that parameter (RFC 9110 §12.5.1).
 */
export function withoutParameters(accept: string): string {
  if (!accept.includes(';')) return accept;
  const known = simplified.get(accept);
  if (known !== undefined) return known;
  const simple = simplify(accept);
  simplified.set(accept, simple);
  return simple;
}

/** Browsers send a few values again and again. */
const simplified = new LRUCache<string, string>({
  max: 200,
  maxSize: 100_000,
  sizeCalculation: (text, key) => 1 + text.length + key.length,
});

function simplify(accept: string): string {
  return (accept.match(element) ?? [])
    .map((range) => {
      const plain = range.replace(quoted, '');
      const q = weight.exec(plain)?.[1];
      const [type = ''] = plain.split(';', 1);
      return q === undefined ? type.trim() : `${type.trim()};q=${q}`;
    })
    .join(', ');
}
