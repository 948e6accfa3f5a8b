import { readFileSync } from 'node:fs';
import { keepYaml } from '#lib/cache/keep-yaml.ts';
import type { ModelType } from '../domain/model.ts';

/** A model of the demonstration (docs/operations.md, "Settings"), active as 1.0 from the first start. */
export interface DemoModel {
  type: ModelType;
  key: string;
  name: string;
  description: string;
  default?: boolean;
  /** Complete in the languages that pages have. */
  data: Record<'en' | 'fr' | 'ar', Record<string, unknown>>;
}

let models: readonly DemoModel[] | undefined;

/** The models of models.yaml. Read on first use, because most processes never need them. */
export function demoModels(): readonly DemoModel[] {
  models ??= keepYaml<DemoModel[]>('demo-models', [
    readFileSync(new URL('models.yaml', import.meta.url), 'utf8'),
  ]).flat();
  return models;
}
