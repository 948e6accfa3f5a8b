import { expect, it, vi } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { startTestInstance } from '../support/instances/instance.ts';

type SystemConfig = components['schemas']['SystemConfig'];

async function configOf(environment: Record<string, string>): Promise<SystemConfig> {
  const instance = await startTestInstance(environment);
  try {
    // The service transactions reports its channels when it starts.
    return await vi.waitFor(async () => {
      const config = (await (await instance.fetch('/system/config')).json()) as SystemConfig;
      expect(config.features).toContain('mail');
      return config;
    });
  } finally {
    await instance.stop();
  }
}

it('names the instance, its issuer and the features that are configured', async () => {
  const mail = {
    MAIL_URL: 'smtp://127.0.0.1:9',
    INSTANCE_NAME: 'Riverside Clinic',
    INSTANCE_TIME_ZONE: 'Asia/Tokyo',
  };
  const { name, baseUrl, timeZone, issuer, features } = await configOf({ ...mail, DEMO: 'false' });
  expect([name, timeZone]).toEqual(['Riverside Clinic', 'Asia/Tokyo']);
  expect(issuer).toEqual({ url: `${baseUrl}/auth`, builtIn: true });
  expect(features).toEqual(['mail', 'pdf', 'accounts', 'audit', 'campaigns', 'choices']);
});
