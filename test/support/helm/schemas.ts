import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  type KubernetesSchema,
  type minors,
  readKubernetesSchema,
} from '../../infrastructure/kubernetes-schemas.ts';
import { MissingInfrastructure } from '../../infrastructure/programs.ts';
import type { Manifest } from './chart.ts';
import { customResources } from './custom-resources.ts';

/** Checks a manifest as the API server does with strict field validation. @returns faults. */
export type CheckManifest = (manifest: Manifest) => string[];

type Definition = KubernetesSchema['$defs'][string] & {
  properties?: Record<string, unknown>;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
};

/** A checker for a version of Kubernetes; null where the schemas cannot be had, so that tests are skipped. */
export async function openSchema(minor: (typeof minors)[number]): Promise<CheckManifest | null> {
  try {
    return createChecker(await readKubernetesSchema(minor));
  } catch (error) {
    if (!(error instanceof MissingInfrastructure) || process.env.CI === 'true') throw error;
    console.warn(error.message);
    return null;
  }
}

function createChecker(schema: KubernetesSchema): CheckManifest {
  const names = new Map<string, string>();
  for (const [name, definition] of Object.entries(schema.$defs) as [string, Definition][]) {
    // Fields that the schema does not have are typing errors.
    if (definition.properties) definition.additionalProperties = false;
    for (const { group, version, kind } of definition['x-kubernetes-group-version-kind'] ?? [])
      names.set(`${group ? `${group}/` : ''}${version} ${kind}`, name);
  }
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(schema, 'kubernetes');
  for (const [kind, spec] of Object.entries(customResources)) ajv.addSchema(spec, kind);
  return (manifest) => {
    const kind = `${manifest.apiVersion} ${manifest.kind}`;
    const isCustom = kind in customResources;
    const validate = ajv.getSchema(isCustom ? kind : `kubernetes#/$defs/${names.get(kind)}`);
    if (!validate) return [`Kubernetes has no ${kind}`];
    if (validate(isCustom ? manifest.spec : manifest)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${manifest.kind} ${manifest.metadata.name} ${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
}
