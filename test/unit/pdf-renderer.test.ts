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
const expected = Buffer.from(typesetter.render(job));
const program = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`);
const onMessage = (body: string) =>
  program(`import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { ${body} });`);

function start(options: Partial<Parameters<typeof createPdfRenderer>[0]> = {}) {
  const renderer = createPdfRenderer({ log: createLogger({ level: 'silent' }), ...options });
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
    for (const pdf of await Promise.all([1, 2, 3].map(() => renderer.render(job))))
      expect(Buffer.compare(pdf, expected)).toBe(0);
  });

  it('does not hold up the event loop', async () => {
    const renderer = start();
    await renderer.render(job);
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    await Promise.all([1, 2, 3, 4].map(() => renderer.render(job)));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(20);
  });

  it('refuses further documents with Retry-After if too many wait', async () => {
    const renderer = start({ maxWaiting: 2 });
    const outcomes = await Promise.all([1, 2, 3, 4, 5].map(() => failureOf(renderer.render(job))));
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
  ])('answers, and starts another thread, if the thread %s', { timeout: 30_000 }, async (_, body) => {
    const renderer = start({ program: onMessage(body), limitMs: 1_500 });
    for (let round = 0; round < 2; round += 1) {
      const failure = await failureOf(renderer.render(job));
      expect(failure).toMatchObject({ code: 'unavailable', headers: { 'Retry-After': expect.any(String) } });
    }
  });

  it('says so if the thread cannot render a document, and renders the next', async () => {
    const renderer = start();
    expect(await failureOf(renderer.render({ ...job, date: 'never' }))).toMatchObject({ code: 'internal' });
    expect(Buffer.compare(await renderer.render(job), expected)).toBe(0);
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
    const refused = failureOf(renderer.render(pdfJob({ ...page, receipt })));
    expect(Buffer.compare(await renderer.render(job), expected)).toBe(0);
    expect(await refused).toMatchObject({ code: 'not-acceptable', headers: {} });
    expect(lines).toEqual([]);
  });

  it('refuses documents once it is stopped', async () => {
    const renderer = start();
    const waiting = [renderer.render(job), renderer.render(job)].map(failureOf);
    await renderer.stop();
    for (const outcome of [...waiting, failureOf(renderer.render(job))])
      expect(await outcome).toMatchObject({ code: 'unavailable' });
  });
});
