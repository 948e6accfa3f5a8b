import { Writable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Failure } from '#lib/errors/fail.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createPdfRenderer } from '../../services/forms/pdf/pdf-renderer.ts';
import { createTypesetter } from '../../services/forms/pdf/typesetter.ts';
import { compileTypesetter } from '../../services/forms/pdf/typesetter-program.ts';
import { pdfJob, sampleReceiptPage } from '../support/pages/pdf-jobs.ts';

const typesetter = await createTypesetter(await compileTypesetter());
const job = pdfJob(sampleReceiptPage('en'));
/** Jobs of which none equals another. */
const jobs = (count: number) =>
  Array.from({ length: count }, (_, number) => ({ ...job, footer: `${job.footer} ${number}` }));
const expected = Buffer.from(await typesetter.render(job));
const program = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`);
const onMessage = (body: string) =>
  program(`import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { ${body} });`);

function start(options: Partial<Parameters<typeof createPdfRenderer>[0]> = {}) {
  const renderer = createPdfRenderer({ log: createLogger({ level: 'silent' }), limitMs: 60_000, ...options });
  onTestFinished(() => renderer.stop());
  return renderer;
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: Failure) => error,
  );

describe('the renderer of PDFs', () => {
  it('gives the bytes of the typesetter, from one thread after the other', async () => {
    // Less than one document uses: each thread renders one.
    const renderer = start({ maxMemory: 1 });
    const asked = jobs(3);
    const made = await Promise.all(asked.map((each) => renderer.render(each, 'anyone')));
    for (const [index, pdf] of made.entries())
      expect(Buffer.compare(pdf, Buffer.from(await typesetter.render(asked[index] as typeof job)))).toBe(0);
  });

  it('does not hold up the event loop', async () => {
    const renderer = start();
    await renderer.render(job, 'anyone');
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    await Promise.all(jobs(4).map((each) => renderer.render(each, 'anyone')));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(20);
  });

  it('refuses further documents with Retry-After if too many wait', async () => {
    const renderer = start({ maxWaiting: 2 });
    const outcomes = await Promise.all(jobs(5).map((each) => failureOf(renderer.render(each, 'anyone'))));
    const refused = outcomes.filter((outcome) => outcome !== undefined);
    expect(refused).toHaveLength(2);
    for (const failure of refused) {
      expect(failure).toBeInstanceOf(Failure);
      expect(failure).toMatchObject({ code: 'unavailable', overload: true });
      expect(failure.headers['Retry-After']).toMatch(/^[123]$/);
    }
  });

  it.each([
    ['hangs', 'while (true);'],
    ['ends', 'process.exit(3);'],
    ['crashes', "throw new Error('a fault')"],
    ['needs too much memory', 'const all = []; while (true) all.push(new Array(10_000).fill({}));'],
  ])('answers, and starts another thread, if the thread %s', { timeout: 120_000 }, async (_, body) => {
    // A thread that ends by itself is waited for, however long it takes to start.
    const limitMs = body.includes('while') ? 1_500 : 30_000;
    const renderer = start({ program: onMessage(body), limitMs });
    for (let round = 0; round < 2; round += 1) {
      const failure = await failureOf(renderer.render(job, 'anyone'));
      // A thread that goes on, but had little time on a busy machine, is worth another attempt.
      const isWorthMore = body.includes('while') && failure?.code === 'unavailable';
      expect(isWorthMore || failure?.code === 'not-acceptable').toBe(true);
    }
  });

  it('says so if the thread cannot render a document, and renders the next', async () => {
    const renderer = start();
    expect(await failureOf(renderer.render({ ...job, date: 'never' }, 'anyone'))).toMatchObject({
      code: 'not-acceptable',
    });
    expect(Buffer.compare(await renderer.render(job, 'anyone'), expected)).toBe(0);
  });

  it.each([
    ['a word of 100,000 letters', 'W'.repeat(100_000)],
    ['10,000 list items', `<ul>${'<li>a</li>'.repeat(10_000)}</ul>`],
  ])('refuses %s for good, and keeps the thread for others', async (_, header) => {
    const page = sampleReceiptPage('en');
    const { information } = page.receipt;
    const texts = { ...information.texts, header };
    const receipt = { ...page.receipt, information: { ...information, texts } };
    const lines: string[] = [];
    const destination = new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const renderer = start({ log: createLogger({ destination }) });
    const refused = failureOf(renderer.render(pdfJob({ ...page, receipt }), 'anyone'));
    expect(Buffer.compare(await renderer.render(job, 'anyone'), expected)).toBe(0);
    expect(await refused).toMatchObject({ code: 'not-acceptable', headers: {} });
    expect(lines).toEqual([]);
  });

  it('refuses documents once it is stopped', async () => {
    const renderer = start();
    const waiting = jobs(2).map((each) => failureOf(renderer.render(each, 'anyone')));
    await renderer.stop();
    for (const outcome of [...waiting, failureOf(renderer.render(job, 'anyone'))])
      expect(await outcome).toMatchObject({ code: 'unavailable' });
  });

  it('makes an equal document once, while it is made and afterwards', async () => {
    // A thread that counts what it makes.
    const counting = program(`import { parentPort } from 'node:worker_threads'; let made = 0;
      parentPort.on('message', () => parentPort.postMessage({ memory: 0, pdf: new Uint8Array([++made]) }));`);
    const renderer = start({ program: counting });
    const hundred = Array.from({ length: 100 }, (_, number) => renderer.render({ ...job }, `link ${number}`));
    expect(new Set((await Promise.all(hundred)).map(([count]) => count))).toEqual(new Set([1]));
    expect([...(await renderer.render(job, 'another'))]).toEqual([1]);
    expect([...(await renderer.render({ ...job, footer: 'another' }, 'another'))]).toEqual([2]);
  });

  it('lets askers take turns, and refuses only the one whose documents are too many', async () => {
    const renderer = start({
      program: onMessage('parentPort.postMessage({ memory: 0, pdf: new Uint8Array(1) })'),
      maxWaiting: 8,
    });
    const order: string[] = [];
    const ask = (each: typeof job, asker: string) =>
      renderer.render(each, asker).then(
        () => order.push(asker),
        () => order.push(`${asker} refused`),
      );
    const greedy = jobs(40).map((each) => ask(each, 'greedy'));
    const other = ask({ ...job, footer: 'of the other' }, 'other');
    await Promise.all([...greedy, other]);
    const made = order.filter((asker) => !asker.endsWith('refused'));
    expect(made.indexOf('other')).toBeLessThanOrEqual(2);
    expect(order).not.toContain('other refused');
    expect(order.filter((asker) => asker === 'greedy refused').length).toBeGreaterThan(20);
  });
});
