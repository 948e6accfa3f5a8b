import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { SettingsError } from '#lib/config/settings.ts';
import { readInstanceSettings } from '../../services/settings.ts';
import { selfSignedCertificate } from '../support/network/self-signed-certificate.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'accord-test-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));
const certificate = path.join(folder, 'ca.crt');
writeFileSync(certificate, selfSignedCertificate(['localhost']).cert);

const faultsOf = (environment: Record<string, string>) => {
  try {
    readInstanceSettings(environment);
    return [];
  } catch (error) {
    return (error as SettingsError).faults;
  }
};

describe('settings of an instance', () => {
  it('name the faults of words of the organisation', () => {
    expect(faultsOf({ LOCALES_DIR: '/nowhere' })).toEqual([
      'LOCALES_DIR: must be a folder ("/nowhere" is none)',
    ]);
  });

  it('are all checked', () => {
    const faults = faultsOf({
      OUTBOUND_ALLOWED_NETWORKS: '10.0.0.0',
      MAIL_URL: 'mail.example.org',
      MAIL_FROM: 'Accord',
      MAIL_SENDERS: 'consent@example.org, +33123456789',
      SMS_URL: 'smtp://sms.example.org',
      LOG_LEVEL: 'chatty',
    });
    expect(faults.sort()).toEqual([
      'LOG_LEVEL: must be one of info, warn, error, silent (it is "chatty")',
      'MAIL_FROM: must be like consent@example.org or Accord <consent@example.org> (it is "Accord")',
      'MAIL_SENDERS: must be addresses such as consent@example.org, separated by commas ("+33123456789" is not one)',
      'MAIL_URL: must be like smtp://user:password@mail.example.org:587 (it is "mail.example.org")',
      'OUTBOUND_ALLOWED_NETWORKS: must be networks such as 10.0.0.0/8, separated by commas ("10.0.0.0" is not one)',
      'SMS_URL: must be an http or https address such as https://sms.example.org/send (it is "smtp://sms.example.org")',
    ]);
  });

  it.each<Record<string, string>>([
    { MAIL_URL: 'smtps://accord:p%40ss@mail.example.org:465?pool=true' },
    { MAIL_URL: 'smtp://mail.example.org:587/?tls=required', CODE_TTL: 'PT10M', CODE_RESEND_AFTER: '30' },
    {
      SMS_URL: 'https://sms.example.org/send?format=twilio',
      SMS_FROM: '+33639980001',
      SMS_SENDERS: 'Theatre',
    },
    { SMS_URL: 'https://accord:secret@sms.example.org/send?from=1' },
    { MAIL_FROM: 'Théâtre, Rive Gauche <consent@example.org>', MAIL_SENDERS: 'a@b.org, c@d.org' },
    { OUTBOUND_ALLOWED_NETWORKS: '10.0.0.0/8 fd00::/8', LOG_LEVEL: 'silent' },
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.org/otlp/',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20abc%3D , X-Tenant = a=b',
      OTEL_TRACES_SAMPLER_ARG: '0.05',
    },
  ])('may be %j', (environment) => {
    expect(faultsOf(environment)).toEqual([]);
  });

  it.each([
    ['secret', 'no sign'],
    ['a b=secret', 'a name with a space'],
    ['X-Key=secret%', 'a broken escape'],
    ['X-Key=secret%0AX-Other: 1', 'a line break'],
  ])('of traces are checked: headers %j (%s), which the message does not repeat', (headers) => {
    const faults = faultsOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
      OTEL_EXPORTER_OTLP_HEADERS: headers,
      OTEL_TRACES_SAMPLER_ARG: '50%',
    });
    expect(faults.sort()).toEqual([
      'OTEL_EXPORTER_OTLP_ENDPOINT: must be an http or https address (it is "collector:4317")',
      'OTEL_EXPORTER_OTLP_HEADERS: must be headers such as Authorization=Bearer%20abc, separated by commas',
      'OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1, such as 0.1 (it is "50%")',
    ]);
  });

  it('of mail, text messages and codes are all named if they are faulty', () => {
    const faults = faultsOf({
      MAIL_URL: 'log',
      MAIL_CA: '/nowhere/ca.pem',
      SMS_URL: 'log',
      SMS_FROM: 'A name that is too long',
      SMS_SENDERS: 'Theatre, +33 6',
      CODE_TTL: '10 min',
      CODE_RESEND_AFTER: '0',
      CODE_DAILY_LIMIT: '-1',
      MESSAGE_DAILY_LIMIT: 'many',
      SMS_PREFIX_LIMIT: '1.5',
    });
    expect(faults.map((fault) => fault.split(':')[0]).sort()).toEqual([
      'CODE_DAILY_LIMIT',
      'CODE_RESEND_AFTER',
      'CODE_TTL',
      'MAIL_CA',
      'MAIL_URL',
      'MESSAGE_DAILY_LIMIT',
      'SMS_FROM',
      'SMS_PREFIX_LIMIT',
      'SMS_SENDERS',
      'SMS_URL',
    ]);
  });

  it.each([
    [{ MAIL_URL: 'smtp://mail.example.org?tls=requierd' }, 'tls'],
    [{ SMS_URL: 'https://sms.example.org?format=json' }, 'format'],
  ])('accept no parameter with a typing error (%j)', (environment, parameter) => {
    expect(faultsOf(environment)).toEqual([expect.stringContaining(`no other value of ${parameter}`)]);
  });

  it('send no password in plain text to a gateway beyond this machine', () => {
    expect(faultsOf({ SMS_URL: 'http://accord:hunter2@sms.example.org/send' })).toEqual([
      'SMS_URL: must be https, because it has a password, which http sends in plain text',
    ]);
    for (const url of [
      'http://a:b@127.0.0.1/send',
      'http://a:b@[::1]/',
      'http://sms.example.org/',
      'https://a:b@sms.example.org',
    ])
      expect(faultsOf({ SMS_URL: url })).toEqual([]);
  });

  it.each([' ', '\u200b', 'a\nb', '\u202eClinic', 'x'.repeat(256)])(
    'have no name that peers would not show (%j)',
    (name) => {
      expect(faultsOf({ INSTANCE_NAME: name })).toEqual([expect.stringMatching(/^INSTANCE_NAME: must be/)]);
    },
  );

  it.each(['Accord', 'مستشفى المدينة', '東京病院', 'Clinic 4'])('may have the name %s', (name) => {
    expect(faultsOf({ INSTANCE_NAME: name })).toEqual([]);
  });

  it('send no mail in the name of a text that begins a header of its own', () => {
    expect(faultsOf({ MAIL_FROM: 'a@b.org\r\nBcc: all@b.org' })).toHaveLength(1);
    expect(faultsOf({ MAIL_FROM: 'Accord\n <a@b.org>' })).toHaveLength(1);
  });
});

describe('settings of connections', () => {
  it('are refused if they do not fit each other', () => {
    expect(
      faultsOf({ KAFKA_SASL: 'SCRAM-SHA-512', REDIS_CA: certificate, KAFKA_CERT: certificate }).sort(),
    ).toEqual([
      'KAFKA_CERT: a client certificate requires both KAFKA_CERT and KAFKA_KEY',
      'KAFKA_SASL: SASL requires both KAFKA_SASL and KAFKA_USER',
      'KAFKA_TLS: must be true, because certificates are set',
      'REDIS_CA: requires a REDIS_URL that begins with rediss://',
    ]);
  });

  it('are refused if a file has something else in it, or the mechanism sends the password', () => {
    expect(faultsOf({ KAFKA_TLS: 'true', KAFKA_CERT: certificate, KAFKA_KEY: certificate })).toEqual([
      `KAFKA_KEY: must be a private key in PEM ("${certificate}")`,
    ]);
    expect(faultsOf({ KAFKA_SASL: 'plain', KAFKA_USER: 'accord' })).toEqual([
      'KAFKA_SASL: must be one of scram-sha-256, scram-sha-512 (it is "plain")',
    ]);
  });

  it('may ask for TLS, a CA and a user', () => {
    const kafka = {
      KAFKA_TLS: 'true',
      KAFKA_CA: certificate,
      KAFKA_SASL: 'SCRAM-SHA-256',
      KAFKA_USER: 'accord',
    };
    expect(faultsOf({ ...kafka, REDIS_URL: 'rediss://accord@redis', REDIS_CA: certificate })).toEqual([]);
  });
});

describe('what is said of a faulty setting', () => {
  it.each([
    ['BASE_URL', 'https://accord:hunter2@consent.example.org'],
    ['BASE_URL', 'https://:hunter2@consent.example.org'],
    ['OIDC_ISSUER', 'https://:hunter2@login.example.org'],
    ['BASE_URL', 'https://consent.example.org/?password=hunter2'],
    ['OIDC_ISSUER', 'https://accord:hunter2@login.example.org'],
    ['OIDC_ISSUER', 'https://accord:x@/hunter2@login.example.org'],
    ['OIDC_ISSUER', 'htps:accord:hunter2@login.example.org'],
    ['AUTH_URL', 'accord:hunter2@consent.example.org'],
    ['DATABASE_URL', 'mysql://accord:hunter2@localhost/accord'],
    ['DATABASE_URL', 'postgresql://accord:hunter2@localhost:port/accord'],
    ['CORS_ORIGINS', 'https://accord:hunter2@shop.example.org'],
    ['EMBED_ORIGINS', 'https://shop.example.org https://accord:hunter2@shop.example.org'],
    ['MAIL_URL', 'smpt://accord:hunter2@mail.example.org'],
    ['MAIL_URL', 'smtp://accord:%zzhunter2@mail.example.org'],
    ['MAIL_URL', 'smtp://accord:1/hunter2@mail.example.org'],
    ['MAIL_URL', 'smtp://accord:1#hunter2@mail.example.org'],
    ['SMS_URL', 'https://accord:%zzhunter2@sms.example.org'],
    ['SMS_URL', 'https://accord:1#hunter2@sms.example.org'],
    ['SMS_URL', 'ftp://accord:hunter2@sms.example.org?key=hunter2'],
  ])('%s has no password in it', (name, value) => {
    const faults = faultsOf({ [name]: value });
    expect(faults).toEqual([expect.stringMatching(`^${name}: must be`)]);
    expect(faults.join()).not.toMatch(/hunter2/);
  });

  it('shows the rest of it', () => {
    expect(faultsOf({ BASE_URL: 'https://accord:hunter2@consent.example.org' })[0]).toContain(
      '"https://***@consent.example.org"',
    );
  });
});
