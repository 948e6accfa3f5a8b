import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { execute } from '../programs.ts';

/** The command line of a cluster. */
export interface Kubectl {
  /** Runs a command. @returns its output. @throws Error with what it has written to standard error */
  run(words: readonly string[]): Promise<string>;
  /** Applies resources, as YAML or JSON. */
  apply(resources: string, words?: readonly string[]): Promise<string>;
}

/** @param program the path of kubectl. */
export function createKubectl(program: string, kubeconfig: string): Kubectl {
  const options = { env: { ...process.env, KUBECONFIG: kubeconfig }, maxBuffer: 1 << 28 };
  const run = async (words: readonly string[]) => (await execute(program, words, options)).stdout;
  return {
    run,
    async apply(resources, words = []) {
      const child = spawn(program, ['apply', '--filename', '-', ...words], { ...options, stdio: 'pipe' });
      child.stdin.end(resources);
      const [output, reason, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit'),
      ]);
      if (code !== 0) throw new Error(`kubectl apply failed: ${reason}`);
      return output;
    },
  };
}
