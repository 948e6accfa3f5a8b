import type { Context } from 'koa';
import { attachedJws } from '#lib/jose/attached-jws.ts';
import { ApiFailure, fieldFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import { factsView } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { fieldsFor } from '../../pages/form.ts';
import { setFramePolicy } from '../../pages/frame.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { findReceipt, receiptFilePath } from '../../people/find-transaction.ts';
import { subjectPath } from '../../people/subject-path.ts';
import { sessionOf } from '../../sessions/session.ts';
import type { Room } from '../room.ts';
import { readProof } from './proof.ts';
import { verifyReceipt } from './verify.ts';

type Receipt = Schemas['Receipt'];
type Answer = Schemas['ConsentRecord'];

const formats = ['pdf', 'html', 'json', 'jose', 'xml', 'text'] as const;
/** They contain the receipt as it was signed, with the link of the person, which a reader does not get. */
const signed: ReadonlySet<string> = new Set(['pdf', 'jose']);

/** Receipts: by transaction, and whether a receipt that a person shows is genuine. */
export const receipts: Room = {
  name: 'receipts',
  path: '/receipts',
  reads: 'getReceipt',
  views: ['receipts', 'verified'],
  routes(router, tools) {
    const show = async (ctx: Context, failure?: ApiFailure) => {
      const reader = tools.reader(ctx);
      const { t } = reader;
      const field = fieldsFor(reader, 'verify');
      const filters = tools.filters(ctx, tools.path, [
        { name: 'transaction', kind: 'text', label: t('receipts.transaction') },
      ]);
      const { transaction } = filters.values;
      const found = transaction ? await findReceipt(ctx, tools, transaction) : undefined;
      const locals = {
        title: t('receipts.title'),
        path: tools.path,
        filters,
        isMissing: transaction !== undefined && !found,
        facts: found && factsOf(ctx, tools, found, found.transaction),
        files: found ? fileLinks(ctx, tools, found.transaction) : [],
        lacksSigned: tools.onlyReads(ctx, 'getReceipt'),
        proof: found && (await proofOf(ctx, tools, { ...found, transaction: transaction ?? '' })),
        shownUrl: found && receiptFilePath(found.transaction, 'html'),
        verifyText: t('verify.text', { url: `${tools.baseUrl}/verify` }),
        verify: tools.form(ctx, {
          action: tools.path,
          submit: t('verify.act'),
          fields: [
            field('file', { kind: 'file', accept: 'application/pdf,application/jose,.jws', isNeeded: true }),
            field('jws', { kind: 'textarea', isNeeded: true, isCode: true }),
            ...(tools.may(ctx, 'listPeers') ? [field('keys', { kind: 'textarea', isCode: true })] : []),
          ],
          values: failure && tools.posted(ctx),
          failure,
        }),
      };
      await tools.page(ctx, 'receipts', locals, failure?.status);
    };
    router.get('/', (ctx) => (ctx.query.format === undefined ? show(ctx) : sendReceipt(ctx, tools)));

    // What is verified stays out of the URL: a receipt has the name of a person.
    router.post('/', async (ctx) => {
      const reader = tools.reader(ctx);
      const { t } = reader;
      const { jws = [''], keys = [''] } = tools.posted(ctx);
      const file = tools.file(ctx, 'file');
      const text = file ? await readSigned(file) : (jws[0] ?? '');
      if (!text.trim())
        return show(ctx, fieldFailure(file ? 'file' : 'jws', file ? 'no-receipt' : 'required'));
      const { outcome, signer, receipt, sha256 } = await verifyReceipt(ctx, tools, {
        jws: text,
        keys: keys[0] ?? '',
      });
      const isOwn = outcome === 'on-record';
      await tools.page(ctx, 'verified', {
        title: t(`verified.${outcome}`),
        text: t(`verified.${outcome}Text`, { signer }),
        // What is printed says who stands for it.
        statement: t('verified.statement', {
          time: reader.dateTime(new Date().toISOString()),
          name: sessionOf(ctx).name,
        }),
        isGood: isOwn || outcome === 'of-peer',
        facts: receipt && [
          ...factsOf(ctx, tools, receipt, isOwn ? receipt.transaction : undefined),
          ...factsView(reader, { 'proof.sha256': { code: sha256, note: t('proof.sha256Note') } }),
        ],
        answers: receipt ? answersOf(reader, receipt, isOwn ? await readNow(ctx, tools, receipt) : []) : [],
        path: tools.path,
      });
    });
  },
};

/** For those who read the log. @param transaction as it was asked for, whatever the receipt says. */
async function proofOf(ctx: Context, tools: RoomTools, { transaction, timestamp, signature }: Receipt) {
  if (!signature || !tools.may(ctx, 'listConsentsAudit')) return undefined;
  return readProof(tools.api(ctx), tools.reader(ctx), { transaction, timestamp, signature });
}

/** Sends the receipt as staff may read it: without anything with which they could act as the person. */
async function sendReceipt(ctx: Context, tools: RoomTools): Promise<void> {
  const format = formats.find((each) => each === ctx.query.format);
  const txid = [ctx.query.transaction].flat()[0];
  if (!format || !txid) throw new ApiFailure(404, {});
  const call = { params: { txid }, query: { format, links: false } };
  const { stream, headers } = await tools.api(ctx).file('getReceipt', call);
  ctx.body = stream;
  for (const name of ['Content-Type', 'Content-Disposition', 'Content-Language']) {
    const value = headers.get(name);
    if (value) ctx.set(name, value);
  }
  // The page of the API is a document of its own, like a preview.
  if (format === 'html') setFramePolicy(ctx, 'receipt');
}

/** A link for each format, to the receipt as staff may read it. */
function fileLinks(ctx: Context, tools: RoomTools, txid: string) {
  const { t } = tools.reader(ctx);
  const offered = tools.onlyReads(ctx, 'getReceipt')
    ? formats.filter((format) => !signed.has(format))
    : formats;
  return offered.map((format) => ({
    href: receiptFilePath(txid, format),
    word: t(`receipts.format.${format}`),
  }));
}

/** @param transaction of this instance, if the receipt is one of its own. */
function factsOf(ctx: Context, tools: RoomTools, receipt: Receipt, transaction: string | undefined) {
  const reader = tools.reader(ctx);
  const { subject, collector, timestamp, expirationTimestamp: expires, receiptId } = receipt;
  return factsView(reader, {
    'receipts.subject': { text: subject, ...(transaction && { href: subjectPath(tools, subject) }) },
    'receipts.collector': { text: collector.name, note: collector.instance },
    [receipt.collection ? 'receipts.recorded' : 'receipts.time']: { time: reader.time(timestamp) },
    'receipts.expires': expires && { time: reader.time(expires) },
    ...wayFacts(reader, receipt),
    'receipts.transaction': {
      code: receiptId,
      ...(transaction && { href: `/console/transactions/${transaction}` }),
    },
  });
}

/** How answers came that were given on paper, by telephone or in person. */
function wayFacts(reader: ConsoleReader, { collection }: Receipt) {
  if (!collection) return {};
  const { way, givenOn, reference } = collection;
  return {
    'receipts.way': { text: reader.word('way', way) },
    'receipts.givenOn': givenOn && { text: reader.plainDate(givenOn) },
    'receipts.reference': reference && { text: reference },
  };
}

/** The signed receipt in a PDF, or in a file of its own; empty without one. */
async function readSigned(file: File): Promise<string> {
  const bytes = Buffer.from(await file.arrayBuffer());
  return bytes.subarray(0, 5).toString('latin1') === '%PDF-'
    ? (attachedJws(bytes) ?? '')
    : bytes.toString('latin1');
}

/** What counts now of the answers on a receipt, for those who may read it. */
async function readNow(ctx: Context, tools: RoomTools, { subject, transaction }: Receipt): Promise<Answer[]> {
  if (!tools.may(ctx, 'listSubjectRecords')) return [];
  const { body } = await tools.api(ctx).call('listSubjectRecords', { params: { name: subject } });
  return Object.values(body)
    .flat()
    .filter((record) => record.transaction === transaction);
}

/**
 * The questions of a receipt in its language, with their answers. @param now the same answers as they are on
 * record now.
 */
function answersOf(reader: ConsoleReader, { consents }: Receipt, now: readonly Answer[]) {
  return consents.map(({ texts, answer, identifier }) => {
    const record = now.find(({ bodyKey }) => bodyKey === identifier.split('/')[2]);
    const { title, label } = texts as { title?: string; label?: string };
    const words = answer.map((each) =>
      reader.has(`verified.${each}`) ? reader.t(`verified.${each}`) : each,
    );
    const note =
      record &&
      (record.status === 'VALID'
        ? reader.t('verified.counts')
        : reader.t('verified.over', { why: reader.word('statusExplanation', record.statusExplanation) }));
    return { label: label ?? title ?? identifier, cell: { text: reader.list(words) || '–', note } };
  });
}
