import type { InstanceSettings } from './settings.ts';

/** What a newcomer needs next: addresses, demo accounts, a curl line that works as it stands. */
export function welcomeLines(
  settings: InstanceSettings,
  baseUrl: string,
  { authUrl, setupLink }: { authUrl: string; setupLink?: string },
): string {
  const lines = [
    `${settings.INSTANCE_NAME} at ${baseUrl}`,
    `  contract   ${baseUrl}/docs`,
    `  sign-in    ${authUrl}`,
  ];
  if (setupLink) lines.push(`  first administrator (once, within an hour)   ${setupLink}`);
  if (settings.demo)
    lines.push(
      '  demo accounts   admin, operator, user; password demo',
      `  a form, embedded   ${baseUrl}/demo`,
      '',
      'A first consent:',
      `  TOKEN=$(curl -s ${authUrl} -d grant_type=password -d client_id=accord -d username=operator -d password=demo | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
      `  curl -s ${baseUrl}/consents -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"subject":"alice","layout":"layout.001"}'`,
    );
  return `${lines.join('\n')}\n`;
}
