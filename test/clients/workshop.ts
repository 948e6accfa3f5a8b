import { spawn } from 'node:child_process';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import versions from './versions.json' with { type: 'json' };

/** What a client goes through before its flow. */
export type Stage = 'install' | 'generate' | 'compile';

/** A program that failed, with all that it said. */
export class ProgramFailed extends Error {
  readonly output: string;

  constructor(command: string, output: string) {
    super(`failed: ${command}`);
    this.output = output;
  }
}

const contract = path.join(import.meta.dirname, '..', '..', 'openapi.yaml');
const drivers = path.join(import.meta.dirname, 'drivers');

/** `npm run` sets variables that would change what other calls of npm do. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)|^npm_config_(local_)?prefix$/.test(name)),
);

/** Runs a program to its end. @returns what it said on both streams. @throws ProgramFailed. */
export async function runProgram(
  command: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<string> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env: { ...environment, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 10 * 60_000,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new ProgramFailed(command.join(' '), output);
  return output;
}

/** A folder in which one client is made, and the ways of its languages. */
export function createWorkshop(folder: string) {
  const at = (...names: string[]) => path.join(folder, ...names);
  const run = (...command: string[]) =>
    runProgram(command, { cwd: folder, env: { GOBIN: at('bin'), GOFLAGS: '-buildvcs=false' } });
  return {
    contract,
    at,
    run,
    write: (name: string, content: string | Uint8Array) => writeFile(at(name), content),
    takeDriver: (name: string, as: string) => cp(path.join(drivers, name), at(as)),

    /** The contract without `enum`, so that a client takes the values that a later version adds. */
    async openContract(): Promise<string> {
      const document = parse(await readFile(contract, 'utf8'));
      const text = JSON.stringify(document, (name, value) => (name === 'enum' ? undefined : value));
      await writeFile(at('open.json'), text);
      return at('open.json');
    },

    /** A virtual environment with packages of PyPI. */
    async installPython(...packages: (keyof typeof versions.pypi)[]): Promise<void> {
      await run('python3', '-m', 'venv', 'venv');
      const wanted = packages.map((name) => `${name}==${versions.pypi[name]}`);
      if (wanted.length > 0) await run(at('venv/bin/pip'), 'install', '--quiet', ...wanted);
    },

    /** Packages of npm, and what TypeScript needs. */
    async installNpm(...packages: (keyof typeof versions.npm)[]): Promise<void> {
      const names = [...packages, 'typescript', '@types/node', 'esbuild'] as const;
      const wanted = names.map((name) => `${name}@${versions.npm[name]}`);
      await writeFile(at('package.json'), '{ "private": true }\n');
      await run('npm', 'install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...wanted);
    },

    /** A program of a Go module. */
    async installGo(module: keyof typeof versions.go, program: string): Promise<void> {
      await mkdir(at('bin'), { recursive: true });
      await run('go', 'install', `${module}/${program}@${versions.go[module]}`);
    },

    /** The jar of openapi-generator, from Maven Central. */
    async installGenerator(): Promise<void> {
      const artifact = 'org.openapitools:openapi-generator-cli';
      const plugin = 'org.apache.maven.plugins:maven-dependency-plugin';
      await run(
        ...['mvn', '-q', '-B', `${plugin}:${versions.maven[plugin]}:copy`],
        ...[`-Dartifact=${artifact}:${versions.maven[artifact]}`, `-DoutputDirectory=${folder}`],
      );
    },

    /** Makes a client in `client` with openapi-generator. */
    async generate(generator: string, input: string, ...options: string[]): Promise<void> {
      const jar = `openapi-generator-cli-${versions.maven['org.openapitools:openapi-generator-cli']}.jar`;
      const files = ['-i', input, '-g', generator, '-o', 'client'];
      await run('java', '-Xmx1g', '-jar', jar, 'generate', ...files, ...options);
    },

    /** Checks the types of a driver with its whole client, and bundles it. */
    async compileTypeScript(driver: string): Promise<void> {
      await cp(path.join(drivers, driver), at('driver.ts'));
      await cp(path.join(drivers, 'flow.ts'), at('flow.ts'));
      await writeFile(at('tsconfig.json'), JSON.stringify(strict));
      await run('node_modules/.bin/tsc', '-p', '.');
      await run(
        'node_modules/.bin/esbuild',
        ...['driver.ts', '--bundle', '--platform=node', '--outfile=driver.cjs', '--log-level=warning'],
      );
    },

    /** Builds a driver as the program `flow`, with a client in the same module or in one of its own. */
    async compileGo(driver: string, requires: readonly string[]): Promise<void> {
      await cp(path.join(drivers, driver), at('main.go'));
      await writeFile(at('go.mod'), ['module flow', '', 'go 1.24', '', ...requires, ''].join('\n'));
      await run('go', 'mod', 'tidy');
      // Optimising the megabytes of generated code takes minutes.
      await run('go', 'build', '-gcflags=flow/...=-N -l', '-o', 'flow', '.');
    },
  };
}
export type Workshop = ReturnType<typeof createWorkshop>;

const strict = {
  compilerOptions: {
    strict: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    skipLibCheck: true,
    noEmit: true,
    types: ['node'],
    lib: ['es2022', 'dom', 'dom.iterable'],
  },
  include: ['driver.ts', 'flow.ts', 'client/**/*.ts'],
};
