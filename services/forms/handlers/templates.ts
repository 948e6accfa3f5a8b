import type { components } from '#lib/contracts/openapi.gen.ts';
import { fail } from '#lib/errors/fail.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { useTemplate } from '../commands/use-template.ts';
import type { ElementTemplate, FormTemplate } from '../domain/fill-template.ts';
import { presentEntry } from '../presenters/present-model.ts';
import { readVersionSummaries } from '../queries/versions.ts';
import { readTemplates } from '../templates/templates.ts';
import type { Dependencies } from './dependencies.ts';

type Schemas = components['schemas'];

/** Handlers of `/models/templates`. */
export function templateHandlers(dependencies: Pick<Dependencies, 'db' | 'source' | 'wake' | 'instance'>) {
  const { db, instance } = dependencies;
  return {
    async listTemplates(ctx) {
      ctx.body = { values: allTemplates().map(presentTemplate) } satisfies Schemas['ModelTemplates'];
    },

    async getTemplate(ctx, { params }) {
      const template = allTemplates().find(({ key }) => key === params.key);
      if (!template) throw fail('not-found', 'Template not found.');
      const data = 'data' in template ? template.data : {};
      ctx.body = { ...presentTemplate(template), data } satisfies Schemas['ModelTemplateContent'];
    },

    async useTemplate(ctx, { params, body }) {
      const made = await useTemplate(dependencies, params.key, body);
      const ids = made.map(({ id }) => id);
      const versions = Map.groupBy(await readVersionSummaries(db, ids), ({ model }) => model);
      ctx.status = 201;
      ctx.set('Location', `${instance.baseUrl}/models/${ids[0]}`);
      ctx.body = {
        values: made.map((entry) => presentEntry(entry, versions.get(entry.id) ?? [])),
      } satisfies Schemas['CreatedModels'];
    },
  } satisfies OperationHandlers;
}

/** Those of forms first. */
function allTemplates(): (FormTemplate | ElementTemplate)[] {
  const { forms, information } = readTemplates();
  return [...forms, information, ...forms.flatMap(({ elements }) => elements)];
}

function presentTemplate(template: FormTemplate | ElementTemplate): Schemas['ModelTemplate'] {
  const { key, texts } = template;
  const elements = 'elements' in template ? template.elements.map((each) => each.key) : [];
  return { key, type: 'type' in template ? template.type : 'layout', texts, elements };
}
