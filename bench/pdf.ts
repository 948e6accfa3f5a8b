import { createLogger } from '#lib/observability/logger.ts';
import { createPdfRenderer } from '../services/forms/pdf/pdf-renderer.ts';
import { renderer } from '../test/support/pages/page-renderer.ts';
import { pdfJob, sampleReceiptPage } from '../test/support/pages/pdf-jobs.ts';
import { sampleLanguages } from '../test/support/samples/sample-content.ts';

// `npm run bench:pdf [documents]`: what a receipt as PDF costs in time and memory (ADR 21), beside its page.
// Each document is another receipt, of three pages, in English, French or Arabic.

const documents = Number(process.argv[2] ?? 2_000);
const pages = sampleLanguages.map(sampleReceiptPage);
const pdf = createPdfRenderer({ log: createLogger() });

function pageOf(index: number) {
  const page = pages[index % pages.length] as (typeof pages)[number];
  return { ...page, receipt: { ...page.receipt, subject: `subject-${index}` } };
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
const [first = 0] = await measure(1, (index) => pdf.render(pdfJob(pageOf(index))));
print(`first document: ${first.toFixed(0)} ms, memory ${atStart} → ${megabytes()} MiB`);

await measure(50, (index) => pdf.render(pdfJob(pageOf(index))));
const html = await measure(500, (index) => renderer.render(pageOf(index)));
const alone = await measure(200, (index) => pdf.render(pdfJob(pageOf(index))));
print('| | p50, ms | p99, ms |\n|---|---:|---:|');
print(`| page | ${quantile(html, 0.5)} | ${quantile(html, 0.99)} |`);
print(`| PDF, one at a time | ${quantile(alone, 0.5)} | ${quantile(alone, 0.99)} |`);

const warm = megabytes();
let done = 0;
let highest = warm;
const [before, started] = [process.cpuUsage(), performance.now()];
async function work(): Promise<void> {
  while (done < documents) {
    done += 1;
    await pdf.render(pdfJob(pageOf(done)));
    highest = Math.max(highest, megabytes());
  }
}
await Promise.all([work(), work(), work(), work()]);
const seconds = (performance.now() - started) / 1_000;
const cpu = process.cpuUsage(before);
const cpuMs = (cpu.user + cpu.system) / 1_000 / documents;
print(
  `${(documents / seconds).toFixed(1)} documents a second, four clients; ${cpuMs.toFixed(0)} ms of CPU each`,
);
print(`memory after ${documents} documents: ${warm} → ${megabytes()} MiB, at most ${highest} MiB`);
await pdf.stop();
