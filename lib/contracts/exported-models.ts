import type { components } from '#lib/contracts/openapi.gen.ts';

/** openapi.yaml, `ModelsExportLine`. */
export type ExportedModel = components['schemas']['ModelsExportLine'];

/** A place in the order of exported models. */
export type ModelPlace = Pick<ExportedModel, 'type' | 'key'>;

/** The internal operation `exportModels` of the forms service. */
export type ExportModels = (input: {
  /** The last model of the page before; null: the first page. */
  after: ModelPlace | null;
  limit: number;
}) => Promise<{
  models: ExportedModel[];
  /** Whether others follow. */
  more: boolean;
}>;
