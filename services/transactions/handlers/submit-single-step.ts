import type { Handler, OperationInput } from '#lib/http/operation.ts';
import { readContext } from '../commands/read-context.ts';
import { submitSingleStep } from '../commands/submit-single-step.ts';
import { unknownFields } from '../domain/gather-fields.ts';
import { prefixPointers } from '../domain/prefix-pointers.ts';
import { splitComment } from '../domain/split-comment.ts';
import type { Dependencies } from './dependencies.ts';
import { readerLanguages } from './reader-languages.ts';
import { sendTransaction } from './send.ts';
import { submitDependencies } from './submit-dependencies.ts';

type Input = OperationInput<{ context: Record<string, unknown>; values: Record<string, unknown> }>;

/** POST /consents/singlestep: create and submit at once, or nothing. */
export function submitSingleStepHandler(dependencies: Dependencies): Handler {
  return async (ctx, { body, principal }: Input) => {
    const context = prefixPointers('/context', () => readContext(body.context, principal));
    const made = await submitSingleStep(
      { ...submitDependencies(dependencies), db: dependencies.db },
      {
        context,
        ...prefixPointers('/values', () => splitComment(body.values)),
        principal,
        languages: readerLanguages(ctx, undefined, dependencies.defaultLanguage),
      },
    );
    const warnings = unknownFields(body.context).map((warning) => ({
      ...warning,
      pointer: `/context${warning.pointer}`,
    }));
    await sendTransaction(ctx, dependencies, made, { principal, warnings }, made.created ? 201 : 200);
  };
}
