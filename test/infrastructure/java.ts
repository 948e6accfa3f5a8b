import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { unpackAptPackages } from './apt-packages.ts';
import { cached } from './cache-folder.ts';
import { writeTrustStore } from './java-trust-store.ts';
import { findProgram } from './programs.ts';

/** How to run Java and Maven. */
export interface Java {
  java: string;
  maven: string;
  environment: Record<string, string>;
}

const certificates = '/etc/ssl/certs/ca-certificates.crt';

/** Java and Maven of this machine, else those of the distribution's packages, unpacked into the cache. */
export async function findJava(): Promise<Java> {
  const [java, maven] = [findProgram('java'), findProgram('mvn')];
  if (java && maven) return { java, maven, environment: {} };
  const folder = await cached('java', unpackJava);
  const virtualMachines = path.join(folder, 'usr/lib/jvm');
  const home = (await readdir(virtualMachines)).find((name) =>
    existsSync(path.join(virtualMachines, name, 'bin/java')),
  );
  if (!home) throw new Error('the packages have no java');
  const libraries = (await readdir(path.join(folder, 'usr/lib')))
    .filter((name) => name.endsWith('-linux-gnu'))
    .map((name) => path.join(folder, 'usr/lib', name));
  return {
    java: path.join(virtualMachines, home, 'bin/java'),
    maven: path.join(folder, 'usr/share/maven/bin/mvn'),
    environment: {
      JAVA_HOME: path.join(virtualMachines, home),
      LD_LIBRARY_PATH: libraries.join(':'),
      MAVEN_OPTS: `-Djavax.net.ssl.trustStore=${path.join(folder, 'trust.jks')} -Djavax.net.ssl.trustStorePassword=changeit`,
    },
  };
}

async function unpackJava(folder: string): Promise<void> {
  await unpackAptPackages(['default-jre-headless', 'maven', 'ca-certificates'], folder);
  // What the packages' own scripts make when they are installed.
  const text = await readFile(certificates, 'utf8').catch(() => bundled(folder));
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const store = writeTrustStore(blocks.map((block) => new X509Certificate(block).raw));
  await writeFile(path.join(folder, 'trust.jks'), store);
}

/** The certificates of the package itself, on a machine that has none. */
async function bundled(folder: string): Promise<string> {
  const source = path.join(folder, 'usr/share/ca-certificates/mozilla');
  const files = await readdir(source);
  return (await Promise.all(files.map((file) => readFile(path.join(source, file), 'utf8')))).join('\n');
}
