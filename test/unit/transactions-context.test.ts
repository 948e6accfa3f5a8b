import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseContext } from '../../services/transactions/request/parse-context.ts';

const none = { mail: null, sms: null };
const base = { subject: 'alice', layout: 'layout.001' };
const faults = (body: Record<string, unknown>) => {
  const parsed = parseContext(body, none);
  return 'faults' in parsed ? parsed.faults.map(({ pointer, code }) => `${pointer} ${code}`) : [];
};
const context = (body: Record<string, unknown>) => {
  const parsed = parseContext(body, none);
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  return parsed.context;
};

describe('a consent context', () => {
  it('gets every default of the decisions', () => {
    expect(context(base)).toEqual({
      ...base,
      origin: 'WEBFORM',
      callbackTriggerDelay: 4000,
      confirmation: 'NONE',
      updatable: true,
      cancellable: false,
      silent: false,
      sendInvitation: false,
      peerCommit: 'independent',
      timeout: 'P7D',
    });
  });
  it('takes configuration from the top level and from `configuration`, and refuses different values in both', () => {
    expect(context({ ...base, configuration: { validity: 'P1Y' } }).validity).toBe('P1Y');
    expect(context({ ...base, validity: 'P1Y', configuration: { validity: 'P1Y' } }).validity).toBe('P1Y');
    expect(faults({ ...base, validity: 'P1Y', configuration: { validity: 'P2Y' } })).toEqual([
      '/configuration/validity conflict',
    ]);
    expect(context({ ...base, userinfos: { emailAddress: 'a@b.example' } }).subjectInfos).toEqual({
      emailAddress: 'a@b.example',
    });
  });
  it('needs exactly one of layout and layoutData; an empty text counts as absent', () => {
    expect(faults({ subject: 'alice' })).toEqual(['/layout layout-conflict']);
    expect(faults({ ...base, layoutData: { type: 'layout' } })).toEqual(['/layoutData layout-conflict']);
    expect(faults({ subject: 'alice', layout: '' })).toEqual(['/layout layout-conflict']);
    expect(faults({ ...base, subject: '' })).toEqual(['/subject required']);
    expect(context({ ...base, callback: '', language: '' }).callback).toBeUndefined();
  });
  it('normalises the subject and counts its characters, not its bytes', () => {
    expect(context({ ...base, subject: ' Ame\u0301lie ' }).subject).toBe('Am\u00e9lie');
    expect(context({ ...base, subject: '🙂'.repeat(1024) }).subject).toHaveLength(2048);
    expect(faults({ ...base, subject: 'a'.repeat(1025) })).toEqual(['/subject invalid']);
    expect(faults({ ...base, subject: '   ' })).toEqual(['/subject invalid']);
  });
  it('serialises the embedding origin as browsers do, and rejects anything else', () => {
    expect(context({ ...base, iframeOrigin: 'https://host:' }).iframeOrigin).toBe('https://host');
    expect(context({ ...base, iframeOrigin: 'HTTPS://Host.Example:443/' }).iframeOrigin).toBe(
      'https://host.example',
    );
    for (const iframeOrigin of [
      'garbage',
      'javascript:alert(1)',
      'https://a.example/page',
      'https://u:p@a.example',
      '*',
      'https://a b',
    ])
      expect(faults({ ...base, iframeOrigin }), iframeOrigin).toEqual(['/iframeOrigin invalid']);
  });
  it('rejects a callback that a browser would execute instead of opening it', () => {
    for (const callback of [
      'javascript:alert(1)',
      ' javascript:alert(1)',
      'data:text/html,x',
      '/relative',
      'ftp://a.example',
      'https://u:p@a.example',
    ])
      expect(faults({ ...base, callback }), callback).toEqual(['/callback invalid']);
    expect(context({ ...base, callback: 'https://a.example/done?x=1' }).callback).toBe(
      'https://a.example/done?x=1',
    );
  });
  it('rejects durations that are invalid or too long', () => {
    for (const timeout of ['', 'P90D', 'PT1S', 'P2M', 'P12W6D', 'PT2160H'])
      expect(faults({ ...base, timeout })).toEqual([]);
    for (const timeout of [
      'P91D',
      '7 days',
      'P-1D',
      'PT0S',
      '-P1D',
      'P3M',
      'P13W',
      'P2M30D',
      'PT2160H1S',
      'P99999999Y',
    ])
      expect(faults({ ...base, timeout }), timeout).toEqual(['/timeout invalid']);
  });
  it('reports features that are not available only if nothing else is wrong', () => {
    const wanted = {
      ...base,
      confirmation: 'EMAIL_CODE',
      sendInvitation: true,
      notification: 'email.001',
    };
    expect(parseContext(wanted, none)).toMatchObject({ unavailable: true });
    expect(faults(wanted)).toEqual(
      ['confirmation', 'sendInvitation', 'notification'].map((name) => `/${name} not-available`),
    );
    expect(faults({ ...base, sendInvitation: true, invitationChannel: 'SMS' })).toEqual([
      '/invitationChannel not-available',
    ]);
    expect(faults({ ...base, invitationChannel: 'SMS' })).toEqual([]);
    expect(faults({ ...wanted, validity: 'x' })).toEqual(['/validity invalid']);
    const parsed = parseContext({ ...base, confirmation: 'FAX_CODE' }, none);
    expect(parsed).toMatchObject({
      unavailable: false,
      faults: [{ detail: expect.stringContaining('NONE, FORM_CODE, EMAIL_CODE, SMS_CODE') }],
    });
  });
  it('never throws for input of the right types', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean());
    const names = [
      'subject',
      'layout',
      'language',
      'origin',
      'validity',
      'timeout',
      'callback',
      'iframeOrigin',
      'callbackTriggerDelay',
      'confirmation',
    ];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (body) => void parseContext(body, none)),
    );
  });
});
