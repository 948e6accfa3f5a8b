import type Router from '@koa/router';
import { type SettingName, settingVariables } from '#lib/config/instance-settings.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ResultOf, Schemas } from '../../api/api-types.ts';
import { actLinks } from '../../pages/acts.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor, languageChoices, type ReadField } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import { atLogo, logoFault, logoTypes } from '../../pages/logo-file.ts';
import type { CellView } from '../../pages/table.ts';
import type { RoomTools } from '../../pages/tools.ts';

type Settings = Schemas['Settings'];
type Config = ResultOf<'getSystemConfig'>;

/** What the instance is and how it is set, and the pages that change it. */
export function instanceRoutes(router: Router, tools: RoomTools): void {
  router.get('/', async (ctx) => {
    if (!tools.may(ctx, 'getSettings')) return tools.open(ctx, `${tools.path}/you`);
    const reader = tools.reader(ctx);
    const [{ body: config }, { body: settings }] = await Promise.all([
      tools.api(ctx).call('getSystemConfig'),
      tools.api(ctx).call('getSettings'),
    ]);
    const rows = (facts: Readonly<Record<string, Fact>>) =>
      Object.entries(facts).map(([word, { setting, isPinned, ...cell }]) => ({
        label: reader.t(`settings.${word}`),
        cell,
        setting,
        isPinned,
      }));
    await tools.page(ctx, 'instance', {
      title: reader.t('settings.instance'),
      logo: settings.logo,
      edited: rows(editedFacts(reader, settings)),
      given: rows(givenFacts(reader, config)),
      acts: actLinks(ctx, tools, [
        { href: `${tools.path}/change`, word: 'settings.change', operation: 'updateSettings' },
        { href: `${tools.path}/logo`, word: 'settings.chooseLogo', operation: 'uploadInstanceLogo' },
      ]),
    });
  });

  formPage(router, tools, {
    path: '/change',
    operation: 'updateSettings',
    view: 'change',
    placeFaults: withOwnWords,
    async ask(ctx, reader) {
      const { body: config } = await tools.api(ctx).call('getSystemConfig');
      const { body: settings, etag = '' } = await tools.api(ctx).call('getSettings');
      return {
        title: reader.t('settings.change'),
        submit: reader.t('settings.save'),
        fields: fieldsOf(reader, settings, config.languages),
        values: valuesOf(settings),
        hidden: { etag },
        locals: { pinned: settings.pinned.map(({ member }) => reader.t(`settings.${member}`)) },
      };
    },
    async send(ctx, field) {
      const body = changeOf(field, new Set(Object.keys(tools.posted(ctx))));
      await tools.api(ctx).call('updateSettings', { body, ifMatch: field('etag') || undefined });
    },
    done: 'settingsChanged',
  });

  // A page of its own: an upload is not kept during a sign-in, as typed texts are.
  formPage(router, tools, {
    path: '/logo',
    operation: 'uploadInstanceLogo',
    view: 'logo',
    placeFaults: atLogo,
    async ask(ctx, reader) {
      const { logo } = (await tools.api(ctx).call('getSettings')).body;
      const field = fieldsFor(reader, 'settings');
      return {
        title: reader.t('settings.chooseLogo'),
        submit: reader.t('settings.save'),
        fields: [
          field('logo', { word: 'file', kind: 'file', accept: logoTypes, isNeeded: true }),
          ...(logo ? [field('remove', { kind: 'check' })] : []),
        ],
        locals: { logo },
      };
    },
    async send(ctx, field) {
      const file = tools.file(ctx, 'logo');
      if (!file && field('remove') !== 'yes') throw logoFault(422, 'required');
      const uploaded = file && (await tools.api(ctx).call('uploadInstanceLogo', { file }));
      await tools.api(ctx).call('updateSettings', { body: { logo: uploaded?.body.logoPath ?? null } });
    },
    done: 'settingsChanged',
  });
}

type Fact = CellView & { setting?: string | null; isPinned?: boolean };

/** What administrators edit; beside what the environment pins stands the variable that does. */
function editedFacts(reader: ConsoleReader, settings: Settings): Record<string, Fact> {
  const { t } = reader;
  const period = (text: string | null) => ({
    text: text === null ? t('settings.forever') : reader.duration(text),
  });
  const cells: Record<Exclude<SettingName, 'logo'>, CellView> = {
    name: { text: settings.name },
    language: { text: reader.languageName(settings.language) },
    timeZone: { code: settings.timeZone },
    mailFrom: { code: settings.mailFrom },
    auditRetention: period(settings.auditRetention),
    recordRetention: period(settings.recordRetention),
    abandonedRetention: period(settings.abandonedRetention),
    backupRetention: period(settings.backupRetention),
  };
  const pinned = new Map(settings.pinned.map(({ member, variable }) => [member as string, variable]));
  return Object.fromEntries(
    Object.entries(cells).map(([name, cell]) => [
      name,
      { ...cell, ...(pinned.has(name) && { setting: pinned.get(name), isPinned: true }) },
    ]),
  );
}

/** What only the operator of the server sets, each with the environment variable that does. */
function givenFacts(reader: ConsoleReader, config: Config): Record<string, Fact> {
  const { t } = reader;
  const { features, issuer } = config;
  const has = (feature: (typeof features)[number]) => ({
    text: t(features.includes(feature) ? 'settings.yes' : 'settings.no'),
  });
  return {
    address: { code: config.baseUrl, setting: 'BASE_URL' },
    languages: { text: reader.languageNames(config.languages) },
    issuer: {
      code: issuer.url,
      note: t(issuer.builtIn ? 'settings.builtIn' : 'settings.outside'),
      setting: 'OIDC_ISSUER',
    },
    mail: { ...has('mail'), setting: 'MAIL_URL' },
    sms: { ...has('sms'), setting: 'SMS_URL' },
    pdf: has('pdf'),
    accounts: { ...has('accounts'), setting: 'OIDC_ISSUER' },
    version: { code: config.version },
  };
}

/** Periods that are offered, besides the one that is set. */
const periods = {
  auditRetention: ['P180D', 'P1Y', 'P2Y', 'P5Y', 'P10Y'],
  recordRetention: ['', 'P1Y', 'P2Y', 'P5Y', 'P10Y'],
  abandonedRetention: ['P30D', 'P90D', 'P180D', 'P1Y'],
  backupRetention: ['P7D', 'P14D', 'P35D', 'P90D'],
} as const;

function fieldsOf(reader: ConsoleReader, settings: Settings, languages: readonly string[]): FieldSpec[] {
  const { t } = reader;
  const field = fieldsFor(reader, 'settings');
  const withOwn = (offered: readonly string[], own: string) =>
    offered.includes(own) ? offered : [...offered, own];
  const zones = withOwn(['UTC', ...Intl.supportedValuesOf('timeZone')], settings.timeZone);
  const period = (name: keyof typeof periods) =>
    field(name, {
      kind: 'select',
      options: withOwn(periods[name], settings[name] ?? '').map((each) => [
        each,
        each === '' ? t('settings.forever') : reader.duration(each),
      ]),
    });
  const fields: Record<Exclude<SettingName, 'logo'>, FieldSpec[]> = {
    name: [field('name', { isRequired: true, maxLength: 255, autocomplete: 'off' })],
    language: [
      field('language', {
        kind: 'select',
        options: languageChoices(reader, withOwn(languages, settings.language)),
      }),
    ],
    timeZone: [field('timeZone', { kind: 'select', options: zones.map((zone) => [zone, zone]) })],
    mailFrom: [
      field('senderName', { maxLength: 120, autocomplete: 'off' }),
      field('senderAddress', { kind: 'email', isRequired: true, maxLength: 254, pointer: '/mailFrom' }),
    ],
    auditRetention: [period('auditRetention')],
    recordRetention: [period('recordRetention')],
    abandonedRetention: [period('abandonedRetention')],
    backupRetention: [period('backupRetention')],
  };
  const pinned = new Set<string>(settings.pinned.map(({ member }) => member));
  return Object.entries(fields).flatMap(([name, specs]) => (pinned.has(name) ? [] : specs));
}

function valuesOf({ pinned: _, mailFrom, logo: _logo, ...settings }: Settings) {
  const [, senderName = '', address] = /^(.*)<([^<>]+)>$/.exec(mailFrom) ?? [];
  const texts = Object.entries(settings).map(([name, value]) => [name, value ?? '']);
  return {
    ...(Object.fromEntries(texts) as Record<string, string>),
    senderName: senderName.trim(),
    senderAddress: address ?? mailFrom,
  };
}

/** What the form changes: the settings whose fields it has. An empty choice sets the default. */
function changeOf(field: ReadField, sent: ReadonlySet<string>): Schemas['SettingsChange'] {
  const name = field('senderName');
  const sender = name ? `${name} <${field('senderAddress')}>` : field('senderAddress');
  const members = (Object.keys(settingVariables) as SettingName[]).filter((each) => sent.has(each));
  return {
    ...Object.fromEntries(members.map((member) => [member, field(member) || null])),
    ...(sent.has('senderAddress') && { mailFrom: sender || null }),
  };
}

/** A fault of one of these members is told in the person's language. */
function withOwnWords(failure: ApiFailure): ApiFailure {
  if (failure.errors.length === 0) return failure;
  const errors = failure.errors.map((fault) => ({
    ...fault,
    code: fault.code === 'invalid' ? `invalid-${fault.pointer.slice(1)}` : fault.code,
  }));
  return new ApiFailure(failure.status, { errors });
}
