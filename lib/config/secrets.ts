import { generatePrivateKey, type PrivateKey, readPrivateKey } from '#lib/config/private-key.ts';
import { createSecretFile, readSecretFile } from '#lib/config/secret-files.ts';
import { generateSharedSecret, readSharedSecret } from '#lib/config/shared-secret.ts';
import { StartupError } from '#lib/lifecycle/startup-error.ts';

/** An instance's secrets. Of each there may be several, for rotation: the first signs, all verify. */
export interface Secrets {
  /** Signs transaction tokens. */
  transactionToken: readonly Uint8Array[];
  /** Keys the hashes of API keys. */
  keyPepper: readonly Uint8Array[];
  /** Signs calls between services. */
  internal: readonly Uint8Array[];
  /** Signs the cookies of the built-in issuer. */
  issuerCookies: readonly Uint8Array[];
  /** Signs access tokens of the built-in issuer (ES256). */
  issuerSigning: readonly PrivateKey[];
  /** Signs receipts and messages to peers (ES256). */
  instanceSigning: readonly PrivateKey[];
  /** Opens what peers sealed for this instance (ECDH-ES). */
  instanceSealing: readonly PrivateKey[];
}

const sharedSecrets = {
  transactionToken: 'transaction-token',
  keyPepper: 'key-pepper',
  internal: 'internal',
  issuerCookies: 'issuer-cookies',
} as const satisfies Partial<Record<keyof Secrets, string>>;

const privateKeys = {
  issuerSigning: 'issuer-signing',
  instanceSigning: 'instance-signing',
  instanceSealing: 'instance-sealing',
} as const satisfies Partial<Record<keyof Secrets, string>>;

/**
 * Reads every secret from its file in `folder`, one entry a line.
 * @param generate whether missing ones are made (standalone); else a missing one is a fault.
 * @throws StartupError that names every missing, short, example or broken secret (security.md, "Transaction tokens").
 */
export async function loadSecrets({
  folder,
  generate,
}: {
  folder: string;
  generate: boolean;
}): Promise<Secrets> {
  const faults: string[] = [];
  async function read<T>(file: string, parse: (line: string) => T, make: () => string): Promise<T[]> {
    let lines = await readSecretFile(folder, file);
    if (!lines && generate) lines = await createSecretFile(folder, file, make());
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
  const secrets: Partial<Record<keyof Secrets, unknown>> = {};
  for (const [name, file] of Object.entries(sharedSecrets))
    secrets[name as keyof Secrets] = await read(file, readSharedSecret, generateSharedSecret);
  for (const [name, file] of Object.entries(privateKeys))
    secrets[name as keyof Secrets] = await read(file, readPrivateKey, generatePrivateKey);
  if (faults.length > 0) throw unusable(folder, faults);
  return secrets as unknown as Secrets;
}

function unusable(folder: string, faults: string[]): StartupError {
  return new StartupError(
    `These secrets in ${folder} (SECRETS_DIR) cannot be used:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
  );
}
