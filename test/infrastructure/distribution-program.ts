import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { unpackAptPackages } from './apt-packages.ts';
import { cached } from './cache-folder.ts';
import { findProgram, MissingInfrastructure, tell } from './programs.ts';

/** A program that every distribution packages. */
export interface DistributionProgram {
  /** Its name on PATH. */
  name: string;
  /** Debian's package. */
  aptPackage: string;
  /** Where the package has it. */
  file: string;
  /** The command that installs it. */
  help: string;
}

/**
 * The program on PATH, else the one of the distribution's package, which is unpacked into the cache.
 * @returns the command, and what it needs in its environment. @throws MissingInfrastructure
 */
export async function findDistributionProgram({
  name,
  aptPackage,
  file,
  help,
}: DistributionProgram): Promise<{ command: string; environment?: { LD_LIBRARY_PATH: string } }> {
  const installed = findProgram(name);
  if (installed) return { command: installed };
  try {
    const folder = await cached(aptPackage, async (into) => {
      await unpackAptPackages([aptPackage], into);
      if (!existsSync(path.join(into, file))) throw new Error(`the package has no ${name}`);
    });
    const names = await readdir(path.join(folder, 'usr/lib')).catch(() => []);
    const triplet = names.find((each) => each.endsWith('-linux-gnu'));
    return {
      command: path.join(folder, file),
      ...(triplet ? { environment: { LD_LIBRARY_PATH: path.join(folder, 'usr/lib', triplet) } } : {}),
    };
  } catch (error) {
    throw new MissingInfrastructure(name, [tell(error)], help);
  }
}
