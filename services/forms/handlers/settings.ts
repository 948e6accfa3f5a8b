import type { Context } from 'koa';
import { type SettingName, settingNames, settingVariables } from '#lib/config/instance-settings.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { readStoredSettings, type StoredSettings } from '#lib/runtime/live-settings.ts';
import { uploadInstanceLogo } from '../commands/logos.ts';
import { changeSettings } from '../commands/settings.ts';
import { entityTag } from '../domain/model.ts';
import type { Dependencies } from './dependencies.ts';
import { ifMatchOf } from './models.ts';

type Settings = components['schemas']['Settings'];
type PinnedSetting = components['schemas']['PinnedSetting'];

/** /settings, /settings/logo */
export function settingsHandlers(dependencies: Dependencies) {
  const { db, liveSettings, renderer } = dependencies;

  function send(ctx: Context, stored: StoredSettings): void {
    liveSettings.accept(stored);
    const { baseUrl: _, ...values } = { ...liveSettings.instance };
    ctx.set('ETag', entityTag(stored.version));
    ctx.body = { ...values, pinned: pinnedMembers(liveSettings) } satisfies Settings;
  }

  return {
    async getSettings(ctx) {
      send(ctx, await readStoredSettings(db));
    },

    async updateSettings(ctx, { body }) {
      const { languages } = renderer;
      send(ctx, await changeSettings({ ...dependencies, languages }, body, ifMatchOf(ctx)));
    },

    async uploadInstanceLogo(ctx, { body }) {
      ctx.body = { logoPath: await uploadInstanceLogo(dependencies, body ?? Buffer.alloc(0)) };
    },
  } satisfies OperationHandlers;
}

function pinnedMembers({ sources }: Dependencies['liveSettings']): PinnedSetting[] {
  const { pinned } = sources();
  const isNamed = (name: SettingName): name is PinnedSetting['member'] => settingVariables[name] !== null;
  return settingNames
    .filter(isNamed)
    .filter((name) => pinned[name] !== undefined)
    .map((member) => ({ member, variable: settingVariables[member] }));
}
