import { expect } from 'vitest';
import { runModels } from '#lib/models/run-models.ts';
import type { Caller } from '../instances/callers.ts';
import type { TestInstance } from '../instances/instance.ts';

/** The program `npm run models`, as on the command line. */
export interface ModelsProgram {
  run(...args: string[]): Promise<{ code: number; output: string; errors: string }>;
  /** Applies what a plan of the folder prints. @returns the plan. */
  apply(folder: string, ...args: string[]): Promise<string>;
}

/** Runs it in this process. */
export function modelsProgram(instance: Pick<TestInstance, 'url'>, caller: Caller): ModelsProgram {
  const run = async (...args: string[]) => {
    const said = { output: '', errors: '' };
    const environment = {
      ACCORD_URL: instance.url,
      ACCORD_TOKEN: String(caller.headers.Authorization).slice('Bearer '.length),
    };
    const code = await runModels(args, environment, {
      print(text) {
        said.output += text;
      },
      printError(text) {
        said.errors += text;
      },
    });
    return { code, ...said };
  };
  return {
    run,
    async apply(folder, ...args) {
      const { code, output, errors } = await run('plan', folder, ...args);
      expect({ code, errors }).toEqual({ code: 2, errors: '' });
      const applied = await run('apply', folder, '--plan', digestIn(output), ...args);
      expect(applied).toMatchObject({ code: 0, errors: '' });
      return output;
    },
  };
}

/** The digest of a plan that was printed. */
export const digestIn = (output: string): string => /^Plan ([0-9a-f]{64}):/m.exec(output)?.[1] ?? '';
