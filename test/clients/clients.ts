import { ofRuntimes } from './runtimes.ts';
import versions from './versions.json' with { type: 'json' };
import type { Stage, Workshop } from './workshop.ts';

/** A client, and how it is made and run. */
export interface Client {
  name: string;
  version: string;
  /** Programs that it needs on PATH. */
  needs: readonly string[];
  stages: Record<Stage, (workshop: Workshop) => Promise<unknown>>;
  /** The command of the flow, in the client's folder. */
  flow: readonly string[];
}

const generator = versions.maven['org.openapitools:openapi-generator-cli'];

/** A client of openapi-generator. */
function generated(
  language: string,
  {
    needs = [],
    isOpen = false,
    options = [],
    install,
    compile,
    flow,
  }: {
    needs?: string[];
    /** Of the contract without `enum`: the client refuses values that it does not know. */
    isOpen?: boolean;
    options?: string[];
    install?: (workshop: Workshop) => Promise<unknown>;
    compile: (workshop: Workshop) => Promise<unknown>;
    flow: readonly string[];
  },
): Client {
  return {
    name: `openapi-generator-${language}`,
    version: generator,
    needs: ['java', 'mvn', ...needs],
    stages: {
      async install(workshop) {
        await workshop.installGenerator();
        await install?.(workshop);
      },
      async generate(workshop) {
        const input = isOpen ? await workshop.openContract() : workshop.contract;
        await workshop.generate(language, input, ...options);
      },
      compile,
    },
    flow,
  };
}

const bundled = ['node', 'driver.cjs'] as const;

const ofGenerator: Client[] = [
  generated('python', {
    needs: ['python3'],
    isOpen: true,
    install: ({ installPython }) => installPython(),
    async compile({ at, run, takeDriver }) {
      await run(at('venv/bin/pip'), 'install', '--quiet', './client');
      await run(at('venv/bin/python'), '-m', 'compileall', '-q', 'client');
      await takeDriver('openapi-generator-python.py', 'driver.py');
    },
    flow: ['venv/bin/python', 'driver.py'],
  }),
  generated('java', {
    // Later versions of an instance add members and values; a list that is not given is not an empty one.
    options: [
      '--additional-properties=disallowAdditionalPropertiesIfNotPresent=false,enumUnknownDefaultCase=true,containerDefaultToNull=true',
    ],
    async compile({ at, run, takeDriver }) {
      await takeDriver('Flow.java', 'client/src/main/java/Flow.java');
      const skipped = ['-Dmaven.test.skip=true', '-Dmaven.javadoc.skip=true', '-Dmaven.source.skip=true'];
      await run('mvn', '-q', '-B', '-f', at('client/pom.xml'), ...skipped, 'package');
    },
    flow: ['java', '-cp', 'client/target/classes:client/target/lib/*', 'Flow'],
  }),
  generated('go', {
    needs: ['go'],
    isOpen: true,
    options: [
      ...['--git-user-id', 'example', '--git-repo-id', 'accordclient'],
      '--additional-properties=disallowAdditionalPropertiesIfNotPresent=false',
    ],
    compile: ({ compileGo }) =>
      compileGo('openapi-generator-go.go', ['replace github.com/example/accordclient => ./client']),
    flow: ['./flow'],
  }),
  ...(['typescript-fetch', 'typescript-axios'] as const).map((language) =>
    generated(language, {
      needs: ['npm'],
      install: ({ installNpm }) => installNpm('axios'),
      compile: ({ compileTypeScript }) => compileTypeScript(`${language}.ts`),
      flow: bundled,
    }),
  ),
];

const ofTypeScript: Client[] = [
  {
    name: 'openapi-typescript',
    version: versions.npm['openapi-typescript'],
    needs: ['npm'],
    stages: {
      install: ({ installNpm }) => installNpm('openapi-typescript', 'openapi-fetch'),
      generate: ({ contract, run }) =>
        run('node_modules/.bin/openapi-typescript', contract, '-o', 'client/schema.d.ts'),
      compile: ({ compileTypeScript }) => compileTypeScript('openapi-typescript.ts'),
    },
    flow: bundled,
  },
  {
    name: 'hey-api',
    version: versions.npm['@hey-api/openapi-ts'],
    needs: ['npm'],
    stages: {
      install: ({ installNpm }) => installNpm('@hey-api/openapi-ts'),
      generate: ({ contract, run }) =>
        run('node_modules/.bin/openapi-ts', '-i', contract, '-o', 'client', '-c', '@hey-api/client-fetch'),
      compile: ({ compileTypeScript }) => compileTypeScript('hey-api.ts'),
    },
    flow: bundled,
  },
  {
    name: 'orval',
    version: versions.npm.orval,
    needs: ['npm'],
    stages: {
      install: ({ installNpm }) => installNpm('orval', 'axios'),
      generate: ({ contract, run }) =>
        run(
          'node_modules/.bin/orval',
          '--input',
          contract,
          '--output',
          'client/accord.ts',
          '--client',
          'axios',
        ),
      compile: ({ compileTypeScript }) => compileTypeScript('orval.ts'),
    },
    flow: bundled,
  },
];

const ofOthers: Client[] = [
  {
    name: 'openapi-python-client',
    version: versions.pypi['openapi-python-client'],
    needs: ['python3'],
    stages: {
      install: ({ installPython }) => installPython('openapi-python-client'),
      async generate({ at, openContract, run }) {
        await run(
          at('venv/bin/openapi-python-client'),
          'generate',
          '--path',
          await openContract(),
          '--output-path',
          'client',
        );
      },
      async compile({ at, run, takeDriver }) {
        await run(at('venv/bin/pip'), 'install', '--quiet', './client');
        await run(at('venv/bin/python'), '-m', 'compileall', '-q', 'client');
        await takeDriver('openapi-python-client.py', 'driver.py');
      },
    },
    flow: ['venv/bin/python', 'driver.py'],
  },
  {
    name: 'oapi-codegen',
    version: versions.go['github.com/oapi-codegen/oapi-codegen/v2'],
    needs: ['go'],
    stages: {
      install: ({ installGo }) => installGo('github.com/oapi-codegen/oapi-codegen/v2', 'cmd/oapi-codegen'),
      async generate({ at, contract, run }) {
        await run('mkdir', 'accord');
        const options = ['-generate', 'types,client', '-package', 'accord', '-o', 'accord/accord.go'];
        await run(at('bin/oapi-codegen'), ...options, contract);
      },
      compile: ({ compileGo }) => compileGo('oapi-codegen.go', []),
    },
    flow: ['./flow'],
  },
  {
    name: 'ogen',
    version: versions.go['github.com/ogen-go/ogen'],
    needs: ['go'],
    stages: {
      install: ({ installGo }) => installGo('github.com/ogen-go/ogen', 'cmd/ogen'),
      async generate({ at, openContract, run, write }) {
        // Without the server, which takes a compiler ten minutes.
        const features = { disable_all: true, enable: ['paths/client'] };
        await write('ogen.yml', JSON.stringify({ generator: { features } }));
        const options = ['--config', 'ogen.yml', '--target', 'accord', '--package', 'accord', '--clean'];
        await run(at('bin/ogen'), ...options, await openContract());
      },
      compile: ({ compileGo }) =>
        compileGo('ogen.go', [`require github.com/ogen-go/ogen ${versions.go['github.com/ogen-go/ogen']}`]),
    },
    flow: ['./flow'],
  },
];

/** Every client that is tried. */
export const clients: readonly Client[] = [...ofRuntimes, ...ofGenerator, ...ofTypeScript, ...ofOthers];
