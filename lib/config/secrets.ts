import { createSecretFile, isOpenToOthers, readSecretFile } from '#lib/config/secret-files.ts';
import {
  generatePrivateKey,
  generateSharedSecret,
  type PrivateKey,
  readPrivateKey,
  readSharedSecret,
} from '#lib/config/secret-values.ts';
import { StartupError } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** The secrets of an instance. Each may have several entries for rotation: the first signs, all verify. */
export interface Secrets {
  /** HMAC keys of transaction tokens. */
  transactionToken: readonly Uint8Array[];
  /** Pepper of the hashes of API keys. */
  keyPepper: readonly Uint8Array[];
  /** HMAC keys of the built-in issuer's cookies. */
  issuerCookies: readonly Uint8Array[];
  /**
   * Secrets of the client with which people sign in to the console, as texts. None for a public client of an
   * outside issuer. That issuer decides on their strength, so they are not checked when they are read.
   */
  consoleClient: readonly string[];
  /** ES256 keys of the built-in issuer's access tokens. */
  issuerSigning: readonly PrivateKey[];
  /** ES256 keys of receipts and of messages to peers. */
  instanceSigning: readonly PrivateKey[];
  /** ECDH-ES keys that peers encrypt to. */
  instanceSealing: readonly PrivateKey[];
  /** Encryption keys of the webhook secrets in the database. */
  webhookSealing: readonly Uint8Array[];
  /** Encryption keys of scans in the database. */
  documentSealing: readonly Uint8Array[];
  /** HMAC keys that recognise erased subjects after a restore. */
  erasurePepper: readonly Uint8Array[];
  /** Encryption keys of the console's sessions, cookies and kept forms. */
  consoleSession: readonly Uint8Array[];
}

const sharedSecrets = {
  transactionToken: 'transaction-token',
  keyPepper: 'key-pepper',
  issuerCookies: 'issuer-cookies',
  webhookSealing: 'webhook-sealing',
  documentSealing: 'document-sealing',
  erasurePepper: 'erasure-pepper',
  consoleSession: 'console-session',
} as const satisfies Partial<Record<keyof Secrets, string>>;

const privateKeys = {
  issuerSigning: 'issuer-signing',
  instanceSigning: 'instance-signing',
  instanceSealing: 'instance-sealing',
} as const satisfies Partial<Record<keyof Secrets, string>>;

const clientSecrets = {
  consoleClient: 'console-client',
} as const satisfies Partial<Record<keyof Secrets, string>>;

const files = { ...sharedSecrets, ...privateKeys, ...clientSecrets };

/** The file of a secret in SECRETS_DIR. */
export function fileOfSecret(name: keyof Secrets): string {
  return files[name];
}

const secretNames = Object.keys(files) as (keyof Secrets)[];

interface Options<Name extends keyof Secrets> {
  folder: string;
  /** Default: all. A service is given only its own (docs/security.md). */
  names?: readonly Name[];
  /** Services whose calls this process makes or accepts: file `internal-<service>`. */
  callers?: readonly string[];
  /** Whether missing secrets are generated; otherwise a missing one is a fault. */
  generate: boolean;
  /** Asked if one is missing: whether the database was used before, so that a new secret would not fit. */
  isDatabaseUsed?: () => Promise<boolean>;
  /** Called for each file that the group or others may access. */
  onOpenToOthers?: (file: string) => void;
}

export type LoadedSecrets<Name extends keyof Secrets> = Pick<Secrets, Name> & {
  /** Keys of calls between services, by caller. */
  callers: Readonly<Record<string, readonly Uint8Array[]>>;
};

/**
 * Reads secrets from their files in `folder`, one entry per line.
 * @throws StartupError that names every missing, short, example or broken secret.
 */
export async function loadSecrets<Name extends keyof Secrets = keyof Secrets>(
  options: Options<Name>,
): Promise<LoadedSecrets<Name>> {
  const { folder, names = secretNames, callers = [] } = options;
  const faults: string[] = [];
  const generate = options.generate && !(await isLost(options));
  const context = { ...options, generate };
  const wanted = new Set<string>(names);
  const secrets: Record<string, unknown> = {};
  for (const [name, file] of Object.entries(sharedSecrets))
    if (wanted.has(name)) secrets[name] = await readSecret(context, { file, ...sharedKind, faults });
  for (const [name, file] of Object.entries(privateKeys))
    if (wanted.has(name)) secrets[name] = await readSecret(context, { file, ...keyKind, faults });
  for (const [name, file] of Object.entries(clientSecrets))
    if (wanted.has(name)) secrets[name] = await readSecret(context, { file, ...clientKind, faults });
  const byCaller: Record<string, readonly Uint8Array[]> = {};
  for (const caller of callers)
    byCaller[caller] = await readSecret(context, { file: `internal-${caller}`, ...sharedKind, faults });
  if (faults.length > 0) throw unusable({ folder, faults, isLost: options.generate && !generate });
  // biome-ignore lint/plugin: the loops read each wanted name, which TypeScript cannot know.
  return { ...secrets, callers: byCaller } as unknown as LoadedSecrets<Name>;
}

/** Whether a secret is missing that the database was used with. Nothing stored depends on client secrets. */
async function isLost<Name extends keyof Secrets>({
  folder,
  names = secretNames as Name[],
  isDatabaseUsed,
}: Options<Name>): Promise<boolean> {
  if (!isDatabaseUsed) return false;
  const needed = names.filter((name) => !Object.hasOwn(clientSecrets, name));
  const read = await Promise.all(needed.map((name) => readSecretFile(folder, files[name])));
  return read.includes(undefined) && (await isDatabaseUsed());
}

interface Kind<T> {
  parse: (line: string) => T;
  make: () => string;
  mayBeEmpty?: boolean;
}

const sharedKind: Kind<Uint8Array> = { parse: readSharedSecret, make: generateSharedSecret };
const keyKind: Kind<PrivateKey> = { parse: readPrivateKey, make: generatePrivateKey };
const clientKind: Kind<string> = { parse: (line) => line, make: generateSharedSecret, mayBeEmpty: true };

async function readSecret<T>(
  { folder, generate, onOpenToOthers }: Pick<Options<never>, 'folder' | 'generate' | 'onOpenToOthers'>,
  { file, parse, make, mayBeEmpty = false, faults }: Kind<T> & { file: string; faults: string[] },
): Promise<T[]> {
  let lines = await readSecretFile(folder, file);
  if (!lines && generate) lines = await createSecretFile(folder, file, make());
  if (lines && onOpenToOthers && (await isOpenToOthers(folder, file))) onOpenToOthers(file);
  if (!lines || (lines.length === 0 && !mayBeEmpty)) {
    faults.push(`${file}: ${lines ? 'is empty' : 'is missing'}`);
    return [];
  }
  return lines.flatMap((line, index) => {
    try {
      return [parse(line)];
    } catch (error) {
      faults.push(`${file}, entry ${index + 1}: ${(error as Error).message}`);
      return [];
    }
  });
}

/** Logs that others on the machine may read a secret. */
export function warnOfMode(log: Logger, file: string): void {
  log.warn(`the secret file ${file} is accessible to the group or others; its mode should be 0600`);
}

function unusable({
  folder,
  faults,
  isLost,
}: {
  folder: string;
  faults: string[];
  isLost: boolean;
}): StartupError {
  const isMissing = faults.some((fault) => fault.endsWith('is missing'));
  const advice = isLost
    ? [
        'This database was used with other secrets. Restore them from their backup.',
        `To continue without them: npm run secrets -- ${folder} (docs/operations.md, "Lost secrets", lists what is lost).`,
      ]
    : [`Create the missing ones with: npm run secrets -- ${folder}`];
  return new StartupError(
    [
      `These secrets in ${folder} (SECRETS_DIR) cannot be used:`,
      ...faults.map((fault) => `  ${fault}`),
      ...(isMissing ? advice : []),
    ].join('\n'),
  );
}
