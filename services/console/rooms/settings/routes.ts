import type { Room } from '../room.ts';
import { accountRoutes } from './accounts.ts';
import { ownRoutes } from './own.ts';

/** What the instance is, its accounts, and the person's own settings. */
export const settings: Room = {
  name: 'settings',
  path: '/settings',
  roles: ['operator'],
  places: [
    ['', 'settings.place', 'listAccounts'],
    ['/accounts', 'settings.place.accounts', 'listAccounts'],
    ['/you', 'settings.place.you', 'changePassword'],
  ],
  views: ['instance', 'accounts', 'account', 'own'],
  routes(router, kit) {
    router.get('/', async (ctx) => {
      if (!kit.may(ctx, 'listAccounts')) return kit.open(ctx, `${kit.path}/you`);
      const reader = kit.reader(ctx);
      const { body: config } = await kit.api(ctx).call('getSystemConfig');
      const { features } = config;
      await kit.page(ctx, 'instance', {
        title: reader.t('settings.instance'),
        facts: [
          fact(reader.t('settings.name'), { text: config.name }, 'INSTANCE_NAME'),
          fact(reader.t('settings.address'), { code: config.baseUrl }, 'BASE_URL'),
          fact(reader.t('settings.zone'), { code: config.timeZone }, 'INSTANCE_TIME_ZONE'),
          fact(
            reader.t('settings.language'),
            { text: reader.languageName(config.language) },
            'INSTANCE_LANGUAGE',
          ),
          fact(reader.t('settings.languages'), {
            text: reader.list(config.languages.map((tag) => reader.languageName(tag))),
          }),
          fact(reader.t('settings.issuer'), issuerCell(reader.t, config.issuer), 'OIDC_ISSUER'),
          fact(reader.t('settings.mail'), hasIt(reader.t, features.includes('mail')), 'MAIL_URL'),
          fact(reader.t('settings.sms'), hasIt(reader.t, features.includes('sms')), 'SMS_URL'),
          fact(reader.t('settings.version'), { code: config.version }),
        ],
      });
    });
    accountRoutes(router, kit);
    ownRoutes(router, kit);
  },
};

/** @param setting the environment variable that sets it. */
function fact(label: string, cell: object, setting?: string) {
  return { label, cell, setting };
}

function hasIt(t: (key: string) => string, is: boolean) {
  return { text: t(is ? 'settings.yes' : 'settings.no') };
}

function issuerCell(t: (key: string) => string, { url, builtIn }: { url: string; builtIn: boolean }) {
  return { code: url, note: t(builtIn ? 'settings.builtIn' : 'settings.outside') };
}
