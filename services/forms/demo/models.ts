import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { keepText } from '#lib/cache/keep-text.ts';
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
  models ??= JSON.parse(readAsJson()) as DemoModel[];
  return models;
}

/** The cached JSON is read in 1 ms; the YAML takes 48 ms of each start. */
function readAsJson(): string {
  const yaml = readFileSync(new URL('models.yaml', import.meta.url), 'utf8');
  return keepText({ name: 'demo-models', sources: [yaml], make: () => JSON.stringify(parseYaml(yaml)) });
}

function parseYaml(yaml: string): unknown {
  const { parse } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  return parse(yaml);
}
