import { randomBytes } from 'node:crypto';

/** Values that are found again wherever they turn up. */
export interface Canaries {
  /** A new value for a field, without any character that is written differently somewhere. */
  plant(name: string): string;
  /** A value that would be markup if it stood on a page as it is. */
  plantMarkup(name: string): string;
  /** Watches for a secret that the instance made. @returns the secret. */
  keepSecret(name: string, secret: string): string;
  /** Names of what stands in a text, as it is or in base64. */
  findIn(text: string): string[];
  /** Names of secrets alone. */
  findSecretsIn(text: string): string[];
  /** Names of values that stand in a text as markup. */
  findMarkupIn(text: string): string[];
  count(): number;
}

interface Planted {
  name: string;
  secret: boolean;
  forms: string[];
}

export function createCanaries(): Canaries {
  const planted: Planted[] = [];
  const markup: Planted[] = [];
  const add = (name: string, value: string, secret: boolean) => {
    planted.push({ name, secret, forms: [value.toLowerCase(), ...inBase64(value)] });
    return value;
  };
  // The letters first: no value is the beginning of another, nor a number that anything counts to.
  const draw = () => `kanari${randomBytes(8).toString('hex')}`;
  const find = (list: Planted[], text: string) => {
    const small = text.toLowerCase();
    return list
      .filter(
        ({ forms: [plain = '', ...encoded] }) =>
          small.includes(plain) || encoded.some((form) => text.includes(form)),
      )
      .map(({ name }) => name);
  };
  return {
    plant: (name) => add(name, draw(), isSecret(name)),
    plantMarkup(name) {
      const value = add(name, draw(), isSecret(name));
      markup.push({ name, secret: false, forms: [`<b>${value}`] });
      return `<b>${value}</b>"'&`;
    },
    keepSecret: (name, secret) => add(name, secret, true),
    findIn: (text) => find(planted, text),
    findSecretsIn: (text) =>
      find(
        planted.filter(({ secret }) => secret),
        text,
      ),
    findMarkupIn: (text) => find(markup, text),
    count: () => planted.length,
  };
}

function isSecret(name: string): boolean {
  return /password|token|key as|secret/.test(name);
}

/** What a value looks like in the midst of something in base64, for each place where it may begin. */
function inBase64(value: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.from('\0'.repeat(before) + value).toString('base64');
    // The first and the last digits depend on the neighbours.
    const middle = encoded.slice(before === 0 ? 0 : 4, -4);
    return [middle, middle.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
