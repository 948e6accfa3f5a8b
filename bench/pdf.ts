import { createLogger } from '#lib/observability/logger.ts';
import { createPdfRenderer } from '../services/forms/pdf/pdf-renderer.ts';
import { renderer } from '../test/support/pages/page-renderer.ts';
import { pdfJob, sampleReceiptPage } from '../test/support/pages/pdf-jobs.ts';
import { sampleLanguages } from '../test/support/samples/sample-content.ts';

// `npm run bench:pdf [documents]`: what a receipt as PDF costs in time and memory (ADR 21), beside its page.
// Each document is another receipt, of three pages, in English, French or Arabic.

const documents = Number(process.argv[2] ?? 2_000);
const pages = sampleLanguages.map(sampleReceiptPage);
// Without a time limit, which a busy machine would exceed.
const pdf = createPdfRenderer({ log: createLogger(), limitMs: 600_000 });

function pageOf(index: number) {
  const page = pages[index % pages.length] as (typeof pages)[number];
  return { ...page, receipt: { ...page.receipt, subject: `subject-${index}` } };
}

let drawn = 0;
/** Each document is another one: equal ones would be rendered once. */
function render() {
  drawn += 1;
  return pdf.render(pdfJob(pageOf(drawn)), 'bench');
}

const megabytes = () => Math.round(process.memoryUsage.rss() / 2 ** 20);
const quantile = (sorted: readonly number[], share: number) =>
  (sorted[Math.floor(sorted.length * share)] as number).toFixed(1);

/** @returns milliseconds of each run, sorted. */
async function measure(times: number, run: (index: number) => unknown): Promise<number[]> {
  const durations: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const started = performance.now();
    await run(index);
    durations.push(performance.now() - started);
  }
  return durations.sort((a, b) => a - b);
}

const print = (line: string) => process.stdout.write(`${line}\n`);
const atStart = megabytes();
const [first = 0] = await measure(1, render);
print(`first document: ${first.toFixed(0)} ms, memory ${atStart} → ${megabytes()} MiB`);

await measure(50, render);
const html = await measure(500, (index) => renderer.render(pageOf(index)));
const alone = await measure(200, render);
print('| | p50, ms | p99, ms |\n|---|---:|---:|');
print(`| page | ${quantile(html, 0.5)} | ${quantile(html, 0.99)} |`);
print(`| PDF, one at a time | ${quantile(alone, 0.5)} | ${quantile(alone, 0.99)} |`);

/** Four clients request documents. @returns what it took, and the highest memory meanwhile in MiB. */
async function requestAll(count: number) {
  let [done, highest] = [0, 0];
  const [before, started] = [process.cpuUsage(), performance.now()];
  async function request(): Promise<void> {
    while (done < count) {
      done += 1;
      await render();
      highest = Math.max(highest, megabytes());
    }
  }
  await Promise.all([request(), request(), request(), request()]);
  const seconds = (performance.now() - started) / 1_000;
  const { user, system } = process.cpuUsage(before);
  return { perSecond: count / seconds, cpuMs: (user + system) / 1_000 / count, highest };
}

// Memory depends on how much of its life the thread has behind it, so that peaks are compared with peaks.
const warm = await requestAll(200);
const warmEnd = megabytes();
const { perSecond, cpuMs, highest } = await requestAll(documents);
print(`${perSecond.toFixed(1)} documents a second, four clients; ${cpuMs.toFixed(0)} ms of CPU each`);
print(
  `memory at most, MiB: ${warm.highest} during 200 documents, ${highest} during ${documents} further ones`,
);
print(`memory at the end, MiB: ${warmEnd} after the 200, ${megabytes()} after all`);
await pdf.stop();
