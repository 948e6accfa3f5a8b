import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';
import { cacheFolder } from '../../infrastructure/cache-folder.ts';

const run = promisify(execFile);
const packageFolder = path.dirname(path.dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))));
const dejavuFolder = path.join(
  path.dirname(fileURLToPath(import.meta.resolve('dejavu-fonts-ttf/package.json'))),
  'ttf',
);

/**
 * Chromium takes the last list only: Playwright's, and `RenderDocument`, which replaces the frame at each
 * navigation. Without it a navigation takes 10 ms less of the processor, a third.
 */
const disabledFeatures = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'TcpPortRandomizationWin',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'RenderDocument',
];

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${disabledFeatures.join()}`,
];

/**
 * Unpacks the browser of the npm package once per version. In a child process, because the package reads its
 * environment when it is loaded; into a temporary folder that is then renamed, because its own check races
 * between workers.
 */
async function unpackedBrowser(): Promise<string> {
  const { version } = JSON.parse(await readFile(path.join(packageFolder, 'package.json'), 'utf8'));
  const folder = path.join(cacheFolder(), `chromium-${version}`);
  if (existsSync(path.join(folder, 'chromium'))) return folder;
  await mkdir(cacheFolder(), { recursive: true, mode: 0o755 });
  const work = await mkdtemp(path.join(cacheFolder(), 'unpack-'));
  const script = "import('@sparticuz/chromium').then(({ default: c }) => c.executablePath())";
  await run(process.execPath, ['--input-type=module', '-e', script], {
    cwd: packageFolder,
    env: { ...process.env, TMPDIR: work, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
  });
  await Promise.all([work, path.join(work, 'chromium')].map((file) => chmod(file, 0o755)));
  await rename(work, folder).catch(async (error) => {
    // Another worker was quicker; its folder is as good.
    await rm(work, { recursive: true, force: true });
    if (!existsSync(path.join(folder, 'chromium'))) throw error;
  });
  return folder;
}

/** Without a usable font Chromium draws no text, and every click and axe check still passes. */
async function fontSettings(workFolder: string, moreFonts: string[]): Promise<string> {
  const file = path.join(workFolder, 'fonts.conf');
  const folders = [...moreFonts, dejavuFolder].map((folder) => `<dir>${folder}</dir>`).join('');
  const preferred = ['Open Sans', 'DejaVu Sans'].map((family) => `<family>${family}</family>`).join('');
  await writeFile(
    file,
    `<?xml version="1.0"?><fontconfig>${folders}<cachedir>${path.join(workFolder, 'fontconfig')}</cachedir>` +
      ['sans-serif', 'system-ui']
        .map((family) => `<alias><family>${family}</family><prefer>${preferred}</prefer></alias>`)
        .join('') +
      '<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias></fontconfig>',
  );
  return file;
}

/** The browser to run and its libraries: `CHROMIUM_PATH` first, then the npm package's. */
async function findBrowser(): Promise<{ executablePath: string; libraries: string | null; fonts: string[] }> {
  if (process.env.CHROMIUM_PATH)
    return { executablePath: process.env.CHROMIUM_PATH, libraries: null, fonts: [] };
  const folder = await unpackedBrowser();
  return {
    executablePath: path.join(folder, 'chromium'),
    libraries: path.join(folder, 'al2023', 'lib'),
    fonts: [path.join(folder, 'fonts')],
  };
}

/**
 * Starts Chromium with fonts for Latin and Arabic and web security as users have it.
 * It ends with `browser.close()` or with this process, and its work folder is removed then.
 */
export async function launchChromium(options: LaunchOptions = {}): Promise<Browser> {
  const { executablePath, libraries, fonts } = await findBrowser();
  const workFolder = await mkdtemp(path.join(tmpdir(), 'accord-chromium-'));
  const browser = await chromium.launch({
    ...options,
    executablePath,
    args: [...flags, ...(options.args ?? [])],
    env: {
      ...(process.env as Record<string, string>),
      FONTCONFIG_FILE: await fontSettings(workFolder, fonts),
      ...(libraries ? { LD_LIBRARY_PATH: libraries } : {}),
    },
  });
  const removeFolder = () => rmSync(workFolder, { recursive: true, force: true });
  browser.once('disconnected', removeFolder);
  process.once('exit', removeFolder);
  return browser;
}
