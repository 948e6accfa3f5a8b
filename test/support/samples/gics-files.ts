/** An exchange file of an invented domain, with the structure of those of gICS. */
export const exchangeFile = {
  resourceType: 'ExchangeFormatDefinition',
  supportedVersion: '2024.3.0',
  domain: {
    name: 'Lake',
    label: 'Lake study',
    signerIdType: ['CaseNumber', 'Pseudonym'],
    externProperties: 'fhirSafeSignerIdType = Pseudonym',
  },
  policiesConsentPolicy: [
    policy('collect_water', '1.1', 'Collecting samples of water', '7.1'),
    policy('keep_water', '1.0', 'Keeping samples of water', '7.2'),
    policy('call_again', '1.0', undefined, '7.3'),
    policy('call_again', '0.9', 'Calling', '7.3'),
  ],
  modulesConsentModule: [
    module('Begin', '1.0', {
      title: '<h3>1. What it is about</h3>',
      text: '<div>We study <b>lakes</b> &amp; rivers.</div>',
    }),
    module('Water', '1.2', {
      text: '<div>I agree to the use of my water.</div>',
      policiesAssignedConsentPolicy: [
        { policyKey: 'Lake;collect_water;1.1', expirationProperties: 'VALIDITY_PERIOD=p5y;' },
        { policyKey: 'Lake;keep_water;1.0' },
      ],
    }),
    module('Call', '1.0', {
      text: '<p>You may call me.</p>',
      policiesAssignedConsentPolicy: {
        policyKey: 'Lake;call_again;1.0',
        expirationProperties: 'FIXED_DATE=2030-01-01',
      },
    }),
  ],
  templatesConsentTemplate: [
    {
      domainName: 'Lake',
      Name: 'Grün & blau',
      Label: 'Green and blue',
      version: '2.0.a',
      type: 'CONSENT',
      title: '<h1>Declaration</h1>',
      header: '<h2>Please read</h2>',
      expirationProperties: 'VALIDITY_PERIOD=P30Y;',
      externProperties: 'fhirPolicyUri=urn:oid:7.99',
      modulesAssignedConsentModule: [
        { moduleKey: 'Lake;Call;1.0', orderNumber: 10, mandatory: false },
        { moduleKey: 'Lake;Begin;1.0', orderNumber: 0, mandatory: false },
        {
          moduleKey: 'Lake;Water;1.2',
          orderNumber: 2,
          mandatory: true,
          displayCheckBoxes: ['ACCEPTED', 'DECLINED'],
        },
      ],
    },
    { domainName: 'Lake', Name: 'Goodbye', version: '1.0', type: 'REVOCATION' },
  ],
};

function policy(name: string, version: string, comment: string | undefined, code: string) {
  return {
    domainName: 'Lake',
    name,
    label: name,
    version,
    comment,
    externProperties: `fhirPolicyCode=${code}`,
  };
}

function module(name: string, version: string, more: object) {
  return { domainName: 'Lake', name, label: name, version, ...more };
}

/** A FHIR consent. @param permitted by code of a policy. */
export function fhirConsent(id: string, dateTime: string, permitted: Readonly<Record<string, boolean>>) {
  return {
    resourceType: 'Consent',
    id,
    status: 'active',
    patient: { reference: `Patient/of-${id}` },
    dateTime,
    policy: [{ uri: 'urn:oid:7.99' }],
    provision: {
      type: 'deny',
      period: { start: dateTime, end: '2054-01-01T00:00:00+01:00' },
      provision: Object.entries(permitted).map(([code, isPermitted]) => ({
        type: isPermitted ? 'permit' : 'deny',
        period: { start: dateTime, end: '2029-03-01T10:00:00+01:00' },
        code: [{ coding: [{ system: 'urn:oid:7', code }] }],
      })),
    },
  };
}

export function fhirPatient(consent: string, pseudonym: string) {
  const base = 'https://ths.example.org/gics/identifiers';
  return {
    resourceType: 'Patient',
    id: `of-${consent}`,
    identifier: [
      { system: `${base}/CaseNumber`, value: 'case 1' },
      { system: `${base}/Pseudonym`, value: pseudonym },
    ],
  };
}

/** A resource as FHIR writes it in XML. */
export function fhirXml({ resourceType, ...members }: { resourceType: string }): string {
  return `<?xml version="1.0" encoding="UTF-8"?><${resourceType} xmlns="http://hl7.org/fhir">${xmlOf(members)}</${resourceType}>`;
}

function xmlOf(members: object): string {
  return Object.entries(members)
    .flatMap(([name, value]) => [value].flat().map((each) => xmlElement(name, each)))
    .join('');
}

function xmlElement(name: string, value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'object' && value !== null) return `<${name}>${xmlOf(value)}</${name}>`;
  const text = String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  return `<${name} value="${text}"/>`;
}
