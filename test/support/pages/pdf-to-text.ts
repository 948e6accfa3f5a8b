import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { findDistributionProgram } from '../../infrastructure/distribution-program.ts';
import { MissingInfrastructure } from '../../infrastructure/programs.ts';

const pdftotext = {
  name: 'pdftotext',
  aptPackage: 'poppler-utils',
  file: 'usr/bin/pdftotext',
  help: 'apt-get install poppler-utils (or brew install poppler)',
};

/**
 * Poppler's `pdftotext`, which prints the text of a PDF in the order in which people read it. Null where it
 * is not available, which is printed; in CI that is a failure.
 */
export async function findPdfToText(): Promise<((pdf: Uint8Array) => Promise<string>) | null> {
  try {
    const { command, environment } = await findDistributionProgram(pdftotext);
    return async (pdf) => {
      const program = spawn(command, ['-enc', 'UTF-8', '-', '-'], {
        env: { ...process.env, ...environment },
      });
      const ended = new Promise<number | null>((done, fail) => {
        program.once('close', done);
        program.once('error', fail);
      });
      program.stdin.on('error', () => {}); // It may end without reading.
      program.stdin.end(pdf);
      const [output, errors, code] = await Promise.all([text(program.stdout), text(program.stderr), ended]);
      if (code !== 0 || errors !== '') throw new Error(`pdftotext: ${code} ${errors}`);
      return output;
    };
  } catch (error) {
    if (!(error instanceof MissingInfrastructure) || process.env.CI === 'true') throw error;
    process.stderr.write(`\n!!! TESTS WITH POPPLER ARE LEFT OUT !!!\n${error.message}\n\n`);
    return null;
  }
}
