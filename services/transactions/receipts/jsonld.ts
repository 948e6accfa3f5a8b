import { isWithdrawable } from '#lib/contracts/element-rules.ts';
import type { ReceiptBody, ReceiptConsent } from '#lib/contracts/receipt-body.ts';

/** Terms of the W3C Data Privacy Vocabulary and of Dublin Core; values are typed here once. */
const context = {
  dpv: 'https://w3id.org/dpv#',
  'eu-gdpr': 'https://w3id.org/dpv/legal/eu/gdpr#',
  dct: 'http://purl.org/dc/terms/',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  'dct:conformsTo': { '@type': '@id' },
  'dct:created': { '@type': 'xsd:dateTime' },
  'dct:valid': { '@type': 'xsd:dateTime' },
  'dpv:hasPurpose': { '@type': '@id' },
  'dpv:hasProcessing': { '@type': '@id' },
  'dpv:hasLegalBasis': { '@type': '@id' },
  'dpv:isExercisedAt': { '@type': '@id' },
  'dpv:isIndicatedAtTime': { '@type': 'xsd:dateTime' },
};

/** Profiles of ISO/IEC TS 27560:2023 in DPV (https://w3id.org/dpv/guides/consent-27560). */
const profile = 'https://w3id.org/dpv/schema/dpv-27560';

/** Purposes of a processing; sharing with third parties is a kind of processing in DPV. */
const purposes: Readonly<Record<string, string>> = {
  CONSENT_CORE_SERVICE: 'dpv:RequestedServiceProvision',
  CONSENT_IMPROVED_SERVICE: 'dpv:ServiceOptimisation',
  CONSENT_MARKETING: 'dpv:Marketing',
  CONSENT_RESEARCH: 'dpv:ResearchAndDevelopment',
};
const sharing = 'CONSENT_THIRD_PART_SHARING';

/** GDPR, article 6(1). */
const legalBases: Readonly<Record<string, string>> = {
  LEGAL_BASIS_CONSENT: 'eu-gdpr:A6-1-a',
  LEGAL_BASIS_CONTRACT: 'eu-gdpr:A6-1-b',
  LEGAL_BASIS_LEGAL_OBLIGATION: 'eu-gdpr:A6-1-c',
  LEGAL_BASIS_VITAL_INTEREST: 'eu-gdpr:A6-1-d',
  LEGAL_BASIS_PUBLIC_INTEREST: 'eu-gdpr:A6-1-e',
  LEGAL_BASIS_LEGITIMATE_INTEREST: 'eu-gdpr:A6-1-f',
};

interface Controller {
  company?: string;
  info?: string;
  address?: string;
  email?: string;
  phoneNumber?: string;
}

/** The texts of a processing that have a term in DPV. */
interface ProcessingTexts {
  title?: string;
  data?: string;
  usage?: string;
  purposes?: string[];
  legalBases?: string[];
  retention?: { label?: string; fullText?: string };
  dataController?: Controller;
  thirdParties?: { name: string; value?: string }[];
}

/**
 * A receipt as JSON-LD in the terms of the W3C Data Privacy Vocabulary (docs/interface.md, "Receipts"):
 * processings become ConsentRecords, or DataProcessingRecords without a consent; preferences and conditions
 * have no term there. Members without a value are left out.
 * @param place.url of the receipt. @param place.recordOf the id of a consent's record, by its identifier.
 */
export function receiptJsonLd(
  receipt: ReceiptBody,
  place: { url: string; recordOf: (identifier: string) => string | undefined },
): string {
  const { url, recordOf } = place;
  const { collector } = receipt;
  const processings = receipt.consents.filter(({ type }) => type === 'processing');
  const hasConsent = processings.some(isWithdrawable);
  return JSON.stringify({
    '@context': context,
    '@id': url,
    '@type': hasConsent ? 'dpv:ConsentReceipt' : 'dpv:DataProcessingRecord',
    'dct:conformsTo': hasConsent ? `${profile}#receipt` : undefined,
    'dct:identifier': receipt.receiptId,
    'dct:created': receipt.timestamp,
    'dct:publisher': { '@id': collector.instance, 'dct:title': collector.name },
    'dpv:hasRecordOfActivity': processings.map((consent) =>
      processingRecord(receipt, consent, recordOf(consent.identifier)),
    ),
  });
}

/**
 * The record of a processing. A notice that does not rest on consent is no consent: its record is of the
 * class above ConsentRecord, and states neither a consent status nor a control.
 */
function processingRecord(receipt: ReceiptBody, consent: ReceiptConsent, record: string | undefined) {
  const isConsent = isWithdrawable(consent);
  const texts = consent.texts as ProcessingTexts;
  const { information, updateUrl } = receipt;
  const inLanguage = (text: string | undefined) => text && { '@value': text, '@language': consent.lang };
  const controller = (texts.dataController ?? information.texts.dataController) as Controller | undefined;
  return {
    '@type': isConsent ? 'dpv:ConsentRecord' : 'dpv:DataProcessingRecord',
    'dct:conformsTo': isConsent ? `${profile}#record` : undefined,
    'dct:identifier': record,
    'dct:title': inLanguage(texts.title),
    'dpv:hasDataSubject': { '@type': 'dpv:DataSubject', 'dct:identifier': receipt.subject },
    'dpv:hasDataController': {
      '@type': 'dpv:DataController',
      'dpv:hasName': controller?.company ?? receipt.collector.name,
      'dpv:hasAddress': controller?.address,
      'dpv:hasContact': [controller?.info, controller?.email, controller?.phoneNumber].filter(Boolean),
    },
    'dpv:hasJurisdiction': receipt.jurisdiction,
    'dpv:hasNotice': {
      '@type': isConsent ? 'dpv:ConsentNotice' : 'dpv:PrivacyNotice',
      'dct:identifier': information.identifier,
      'dct:title': information.texts.title,
    },
    'dpv:hasProcess': {
      '@type': 'dpv:Process',
      'dct:description': inLanguage(texts.usage),
      'dpv:hasPurpose': texts.purposes?.flatMap((purpose) => purposes[purpose] ?? []),
      'dpv:hasProcessing': texts.purposes?.includes(sharing) ? ['dpv:Share'] : undefined,
      'dpv:hasPersonalData': { '@type': 'dpv:PersonalData', 'dct:description': inLanguage(texts.data) },
      'dpv:hasStorageCondition': {
        '@type': 'dpv:StorageCondition',
        'dct:description': inLanguage(texts.retention?.fullText ?? texts.retention?.label),
      },
      'dpv:hasRecipient': texts.thirdParties?.map(({ name, value }) => ({
        '@type': 'dpv:ThirdParty',
        'dpv:hasName': name,
        'dct:description': inLanguage(value),
      })),
    },
    'dpv:hasLegalBasis': texts.legalBases?.flatMap((basis) => legalBases[basis] ?? []),
    ...(isConsent && {
      'dpv:hasConsentControl': updateUrl && {
        '@type': 'dpv:WithdrawConsent',
        'dpv:isExercisedAt': updateUrl,
      },
      'dpv:hasConsentStatus': {
        '@type': statusOf(consent),
        'dpv:isIndicatedBy': receipt.author,
        'dpv:isIndicatedAtTime': receipt.timestamp,
        'dpv:hasIndicationMethod': receipt.collectionMethod,
      },
    }),
    'dct:valid': consent.expirationTimestamp ?? receipt.expirationTimestamp,
  };
}

/** `withdrawn`: the answer never took effect, because the consent was withdrawn before. */
function statusOf({ answer, withdraws, withdrawn }: ReceiptConsent): string {
  if (withdraws || withdrawn) return 'dpv:ConsentWithdrawn';
  return answer[0] === 'accepted' ? 'dpv:ConsentGiven' : 'dpv:ConsentRefused';
}
