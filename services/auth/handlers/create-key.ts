import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { OperationInput } from '#lib/http/operation.ts';
import { createKey } from '../commands/create-key.ts';
import { presentKey } from '../presenters/present-key.ts';
import type { Dependencies } from './dependencies.ts';

/** POST /keys: the only answer that ever holds the key itself. */
export function createKeyHandler(dependencies: Dependencies) {
  return async (ctx: Context, { body }: OperationInput<components['schemas']['NewKey']>) => {
    const { row, key } = await createKey(dependencies, body);
    ctx.status = 201;
    ctx.set('Location', `${dependencies.baseUrl}/keys/${row.id}`);
    ctx.body = { ...presentKey(row), key };
  };
}
