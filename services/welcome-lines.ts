import type { InstanceSettings } from './settings.ts';

interface Facts {
  authUrl: string;
  /** Where what must be backed up is: as root it may be elsewhere than a newcomer looks. */
  dataDir: string;
  /** What services have to say, such as the link that makes the first administrator. */
  notices?: readonly string[];
}

/** What a newcomer needs next: addresses, demo accounts, a curl line that works as it stands. */
export function welcomeLines(
  settings: InstanceSettings,
  baseUrl: string,
  { authUrl, dataDir, notices = [] }: Facts,
): string {
  const lines = [
    `${settings.INSTANCE_NAME} at ${baseUrl}`,
    `  contract   ${baseUrl}/docs`,
    `  tokens     ${authUrl}`,
    `  data       ${dataDir}`,
  ];
  lines.push(...notices.map((notice) => `  ${notice}`));
  if (settings.demo) lines.push(...demoLines(settings, baseUrl, authUrl));
  return `${lines.join('\n')}\n`;
}

/** An outside issuer knows no demo accounts, and the password grant can be switched off: no line promises what is not there. */
function demoLines(settings: InstanceSettings, baseUrl: string, authUrl: string): string[] {
  const lines = [`  a form, embedded   ${baseUrl}/demo`];
  if (settings.OIDC_ISSUER) return lines;
  lines.unshift('  demo accounts   admin, operator, user; password demo');
  if (!settings.PASSWORD_GRANT) return lines;
  return [
    ...lines,
    '',
    `A first consent: open ${baseUrl}, or in a terminal:`,
    `  TOKEN=$(curl -s ${authUrl} -d grant_type=password -d client_id=accord -d username=operator -d password=demo | node -p 'JSON.parse(fs.readFileSync(0)).access_token')`,
    `  curl -s ${baseUrl}/consents -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"subject":"alice","layout":"layout.001"}'`,
  ];
}
