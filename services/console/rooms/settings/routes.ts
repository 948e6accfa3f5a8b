import type { ResultOf } from '../../api/api-types.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { CellView } from '../../pages/table.ts';
import type { Room } from '../room.ts';
import { accountRoutes } from './accounts.ts';
import { ownRoutes } from './own.ts';

/** What the instance is, its accounts, and the person's own settings. */
export const settings: Room = {
  name: 'settings',
  path: '/settings',
  reads: 'getUser',
  places: [
    ['', 'settings.place', 'listKeys'],
    ['/accounts', 'settings.place.accounts', 'listAccounts'],
    ['/you', 'settings.place.you', 'changePassword'],
  ],
  views: ['instance', 'outside', 'account', 'own'],
  routes(router, kit) {
    router.get('/', async (ctx) => {
      if (!kit.may(ctx, 'listKeys')) return kit.open(ctx, `${kit.path}/you`);
      const reader = kit.reader(ctx);
      const { body: config } = await kit.api(ctx).call('getSystemConfig');
      await kit.page(ctx, 'instance', {
        title: reader.t('settings.instance'),
        facts: Object.entries(factsOf(reader, config)).map(([word, { setting, ...cell }]) => ({
          label: reader.t(`settings.${word}`),
          cell,
          setting,
        })),
      });
    });
    accountRoutes(router, kit);
    ownRoutes(router, kit);
  },
};

/** The facts by their message, each with the environment variable that sets it. */
function factsOf(reader: ConsoleReader, config: ResultOf<'getSystemConfig'>) {
  const { t, languageName } = reader;
  const { features, issuer } = config;
  const has = (feature: (typeof features)[number]) => ({
    text: t(features.includes(feature) ? 'settings.yes' : 'settings.no'),
  });
  const facts: Record<string, CellView & { setting?: string }> = {
    name: { text: config.name, setting: 'INSTANCE_NAME' },
    address: { code: config.baseUrl, setting: 'BASE_URL' },
    zone: { code: config.timeZone, setting: 'INSTANCE_TIME_ZONE' },
    language: { text: languageName(config.language), setting: 'INSTANCE_LANGUAGE' },
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
    audit: { ...has('audit'), setting: 'AUDIT_RETENTION' },
    version: { code: config.version },
  };
  return facts;
}
