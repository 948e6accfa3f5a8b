import { generatePrivateKey, type PrivateKey, readPrivateKey } from '#lib/config/private-key.ts';
import { createSecretFile, isOpenToOthers, readSecretFile } from '#lib/config/secret-files.ts';
import { generateSharedSecret, readSharedSecret } from '#lib/config/shared-secret.ts';
import { StartupError } from '#lib/errors/startup-error.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** An instance's secrets. Of each there may be several, for rotation: the first signs, all verify. */
export interface Secrets {
  /** Signs transaction tokens. */
  transactionToken: readonly Uint8Array[];
  /** Keys the hashes of API keys. */
  keyPepper: readonly Uint8Array[];
  /** Signs the cookies of the built-in issuer. */
  issuerCookies: readonly Uint8Array[];
  /** Signs access tokens of the built-in issuer (ES256). */
  issuerSigning: readonly PrivateKey[];
  /** Signs receipts and messages to peers (ES256). */
  instanceSigning: readonly PrivateKey[];
  /** Opens what peers sealed for this instance (ECDH-ES). */
  instanceSealing: readonly PrivateKey[];
  /** Seals the secrets of webhooks in the database. */
  webhookSealing: readonly Uint8Array[];
}

const sharedSecrets = {
  transactionToken: 'transaction-token',
  keyPepper: 'key-pepper',
  issuerCookies: 'issuer-cookies',
  webhookSealing: 'webhook-sealing',
} as const satisfies Partial<Record<keyof Secrets, string>>;

const privateKeys = {
  issuerSigning: 'issuer-signing',
  instanceSigning: 'instance-signing',
  instanceSealing: 'instance-sealing',
} as const satisfies Partial<Record<keyof Secrets, string>>;

/** The file of a secret in SECRETS_DIR. */
export function fileOfSecret(name: keyof Secrets): string {
  return { ...sharedSecrets, ...privateKeys }[name];
}

/** Every secret that an instance has whichever way it runs. */
const secretNames = [...Object.keys(sharedSecrets), ...Object.keys(privateKeys)] as (keyof Secrets)[];

interface Options<Name extends keyof Secrets> {
  folder: string;
  /** Those that are needed; all without it. A service is given no others (security.md, "Deployment"). */
  names?: readonly Name[];
  /** Services whose calls are made or taken by this process: file `internal-<service>`. */
  callers?: readonly string[];
  /** Whether missing ones are generated; else a missing one is a fault. */
  generate: boolean;
  /** Asked when one is missing: whether the database was used with it, so that a new one would not fit. */
  isDatabaseUsed?: () => Promise<boolean>;
  /** Called for each file that the group or others may read. */
  onOpenToOthers?: (file: string) => void;
}

/** What was read. */
export type LoadedSecrets<Name extends keyof Secrets> = Pick<Secrets, Name> & {
  /** Sign calls between services, by caller. */
  callers: Readonly<Record<string, readonly Uint8Array[]>>;
};

/**
 * Reads secrets from their files in `folder`, one entry a line.
 * @throws StartupError that names every missing, short, example or broken secret (security.md, "Transaction tokens").
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
  const byCaller: Record<string, readonly Uint8Array[]> = {};
  for (const caller of callers)
    byCaller[caller] = await readSecret(context, { file: `internal-${caller}`, ...sharedKind, faults });
  if (faults.length > 0) throw unusable({ folder, faults, isLost: options.generate && !generate });
  return { ...secrets, callers: byCaller } as unknown as LoadedSecrets<Name>;
}

/** Whether a secret is missing that the database was used with. */
async function isLost<Name extends keyof Secrets>({
  folder,
  names = secretNames as Name[],
  isDatabaseUsed,
}: Options<Name>): Promise<boolean> {
  if (!isDatabaseUsed) return false;
  const files: Record<keyof Secrets, string> = { ...sharedSecrets, ...privateKeys };
  const read = await Promise.all(names.map((name) => readSecretFile(folder, files[name])));
  return read.includes(undefined) && (await isDatabaseUsed());
}

interface Kind<T> {
  parse: (line: string) => T;
  make: () => string;
}

const sharedKind: Kind<Uint8Array> = { parse: readSharedSecret, make: generateSharedSecret };
const keyKind: Kind<PrivateKey> = { parse: readPrivateKey, make: generatePrivateKey };

async function readSecret<T>(
  { folder, generate, onOpenToOthers }: Pick<Options<never>, 'folder' | 'generate' | 'onOpenToOthers'>,
  { file, parse, make, faults }: Kind<T> & { file: string; faults: string[] },
): Promise<T[]> {
  let lines = await readSecretFile(folder, file);
  if (!lines && generate) lines = await createSecretFile(folder, file, make());
  if (lines && onOpenToOthers && (await isOpenToOthers(folder, file))) onOpenToOthers(file);
  if (!lines || lines.length === 0) {
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

/** Logs that a secret may be read by others on the machine. */
export function warnOfMode(log: Logger, file: string): void {
  log.warn(`the secret file ${file} is open to the group or others; its mode should be 0600`);
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
        `To go on without them: npm run secrets -- ${folder} (docs/operations.md, "Lost secrets", says what is lost).`,
      ]
    : [`Those that are missing are made by: npm run secrets -- ${folder}`];
  return new StartupError(
    [
      `These secrets in ${folder} (SECRETS_DIR) cannot be used:`,
      ...faults.map((fault) => `  ${fault}`),
      ...(isMissing ? advice : []),
    ].join('\n'),
  );
}
