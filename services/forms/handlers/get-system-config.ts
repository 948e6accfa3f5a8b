import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Role } from '#lib/contracts/principal.ts';
import type { Handler } from '#lib/http/operation.ts';
import type { Dependencies } from './dependencies.ts';

const roles: Role[] = ['admin', 'operator', 'key', 'user', 'transaction', 'anonymous'];

/** GET /system/config */
export function getSystemConfigHandler({ document, defaultLanguage, renderer }: Dependencies): Handler {
  const config: components['schemas']['SystemConfig'] = {
    version: document.info.version,
    language: defaultLanguage,
    languages: renderer.languages,
    roles,
  };
  return (ctx) => {
    ctx.body = config;
  };
}
