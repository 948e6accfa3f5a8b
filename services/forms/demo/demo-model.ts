import type { ModelType } from '../domain/model.ts';

/** A model of the demonstration (docs/operations.md, "Settings"), ACTIVE 1.0 from the first start on. */
export interface DemoModel {
  type: ModelType;
  key: string;
  name: string;
  description: string;
  default?: boolean;
  /** Complete in each of the three languages that pages have. */
  data: Record<'en' | 'fr' | 'ar', Record<string, unknown>>;
}
