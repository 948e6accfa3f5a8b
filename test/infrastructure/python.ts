import { execute, findProgram, MissingInfrastructure, tell } from './programs.ts';

/**
 * Python 3.10 or later, which makes virtual environments. Null where it is not available, which is printed;
 * in CI that is a failure.
 */
export async function findPython(): Promise<string | null> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof MissingInfrastructure) || process.env.CI === 'true') throw error;
    process.stderr.write(`\n!!! TESTS WITH PYTHON ARE LEFT OUT !!!\n${error.message}\n\n`);
    return null;
  }
}

async function find(): Promise<string> {
  const help = 'apt-get install python3 python3-venv';
  const python = findProgram('python3');
  if (!python) throw new MissingInfrastructure('Python', ['there is no python3 on PATH'], help);
  try {
    await execute(python, [
      '-c',
      'import ensurepip, sys, venv; assert sys.version_info >= (3, 10), sys.version',
    ]);
    return python;
  } catch (error) {
    throw new MissingInfrastructure('Python 3.10 or later with venv', [tell(error)], help);
  }
}
