import { createRequire } from 'node:module';
import type { ReceiptBody, ReceiptConsent, ReceiptPeer } from '#lib/contracts/receipt-body.ts';

const require = createRequire(import.meta.url);

/** Libraries are loaded for the first receipt in XML, which few clients ask for. */
function createBuilder() {
  const { XMLBuilder } = require('fast-xml-parser') as typeof import('fast-xml-parser');
  return new XMLBuilder({
    format: true,
    suppressEmptyNode: true,
    ignoreAttributes: false,
    // Otherwise an attribute whose value is "true" has no value, which only HTML allows.
    suppressBooleanAttributes: false,
  });
}

/**
 * A receipt as XML (services/forms/assets/receipt.xsd). The same receipt always has the same bytes. Members
 * without a value are left out.
 */
export async function receiptXml(receipt: ReceiptBody, schemaUrl: string): Promise<string> {
  const { information, updateUrl } = receipt;
  const { header, footer, dataController, ...texts } = information.texts;
  const content = {
    '@_xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
    '@_xsi:noNamespaceSchemaLocation': schemaUrl,
    receiptId: receipt.receiptId,
    kind: receipt.kind,
    transaction: receipt.transaction,
    parent: receipt.parent,
    jurisdiction: receipt.jurisdiction,
    language: receipt.language,
    date: receipt.timestamp,
    expirationDate: receipt.expirationTimestamp,
    processor: { name: receipt.collector.name, url: receipt.collector.instance },
    leader: receipt.leader && { location: receipt.leader.location, id: receipt.leader.id },
    author: receipt.author,
    subject: receipt.subject,
    object: receipt.object,
    subjectInfos: named('info', receipt.subjectInfos),
    dataController,
    information: describe({ ...information, texts }),
    headerNotice: header,
    consents: { consent: receipt.consents.map(describe) },
    unanswered: receipt.unanswered && { consent: receipt.unanswered.map(describe) },
    peers: receipt.peers && { peer: receipt.peers.map(describePeer) },
    footerNotice: footer,
    attributes: named('attribute', receipt.attributes),
    collection: receipt.collection && {
      way: receipt.collection.way,
      givenOn: receipt.collection.givenOn,
      reference: receipt.collection.reference,
      document: receipt.collection.document,
    },
    privacyPolicyUrl: receipt.privacyPolicyUrl,
    collectionMethod: receipt.collectionMethod,
    confirmation: describeConfirmation(receipt.confirmation),
    signals: receipt.signals,
    updateUrl,
    updateUrlQrCode: updateUrl && (await qrImage(updateUrl)),
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${createBuilder().build({ receipt: xmlSafe(content) })}`;
}

type Described = Partial<ReceiptConsent> & Pick<ReceiptConsent, 'identifier' | 'sha256' | 'texts'>;

function describe({ options, withdraws, sha256, withdrawn, expirationTimestamp, ...described }: Described) {
  const { identifier, type, lang, owner, texts, answer } = described;
  return {
    identifier,
    type,
    lang,
    owner,
    texts,
    option: options,
    answer,
    expirationDate: expirationTimestamp,
    withdraws: consentOf(withdraws),
    withdrawn,
    sha256,
  };
}

/** Its members in the order of the schema. */
function consentOf(withdraws: ReceiptConsent['withdraws']) {
  if (!withdraws) return undefined;
  const { record, receiptId, given } = withdraws;
  return { record, receiptId, given };
}

function describePeer({ name, location, information, elements, withdrawn }: ReceiptPeer) {
  const consent = elements.map(describe);
  return { name, url: location, information: describe(information), consent, withdrawn };
}

/** The type is the element's text, with and without a code. */
function describeConfirmation(confirmation: ReceiptBody['confirmation']) {
  if (typeof confirmation === 'string') return confirmation;
  const { type, destination, confirmedAt } = confirmation;
  return { '@_destination': destination, '@_confirmedAt': confirmedAt, '#text': type };
}

/** Names that clients choose become attributes, because not every name is a name of XML. */
function named(name: string, values: Record<string, string> | undefined) {
  const entries = Object.entries(values ?? {});
  return entries.length > 0
    ? { [name]: entries.map(([key, value]) => ({ '@_name': key, '#text': value })) }
    : undefined;
}

/** Characters that XML 1.0 cannot contain, not even escaped (§2.2, Char). */
const forbidden = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Replaces forbidden characters, and leaves out members without a value. */
function xmlSafe(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll(forbidden, '\ufffd');
  if (Array.isArray(value)) return value.map(xmlSafe);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(members.map(([name, member]) => [xmlSafe(name), xmlSafe(member)]));
}

/** A PNG as a data URL; undefined if the text is too long for a QR code. */
async function qrImage(text: string): Promise<string | undefined> {
  const qrcode = require('qrcode') as typeof import('qrcode');
  return qrcode.toDataURL(text, { errorCorrectionLevel: 'L' }).catch(() => undefined);
}
