import { defaultSettings } from '#lib/config/instance-settings.ts';
import { createLiveSettings, type LiveSettings } from '#lib/runtime/live-settings.ts';

/** The settings of an instance that a test composes by itself: those by default, and its name. */
export function settingsOf(baseUrl: string, name = 'Accord'): LiveSettings {
  const defaults = { ...defaultSettings(new URL(baseUrl).hostname, false), name };
  return createLiveSettings({ baseUrl, pinned: {}, defaults });
}
