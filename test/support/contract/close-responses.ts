import type { ContractDocument } from './contract-paths.ts';

type Node = Record<string, unknown>;

const isNode = (given: unknown): given is Node => typeof given === 'object' && given !== null;

/** The names of the schemas that bodies of requests have, directly or inside of others. */
export function requestSchemas({ components, paths }: ContractDocument): ReadonlySet<string> {
  const schemas = (components.schemas ?? {}) as Node;
  const found = new Set<string>();
  const add = (given: unknown) => {
    for (const name of namesIn(given))
      if (!found.has(name)) {
        found.add(name);
        add(schemas[name]);
      }
  };
  const operations = Object.values(paths).flatMap((item) => Object.values(item as Node));
  add([components.requestBodies, ...operations.map((each) => (each as Node).requestBody)]);
  return found;
}

/**
 * The document with closed responses: a member that it does not have is a fault. The document itself leaves
 * them open, because clients must ignore members that later versions add, and generated clients refuse what
 * a closed schema does not name. Schemas of requests stay as they are.
 */
export function closeResponses(document: ContractDocument): ContractDocument {
  const { components, paths } = document as unknown as { components: Node; paths: Node };
  const requested = requestSchemas(document);
  const ofResponses = (operation: unknown) =>
    isNode(operation) && operation.responses
      ? { ...operation, responses: close(operation.responses) }
      : operation;
  return {
    ...document,
    paths: mapOf(paths, (item) => mapOf(item as Node, ofResponses)),
    components: {
      ...components,
      responses: close(components.responses),
      schemas: mapOf((components.schemas ?? {}) as Node, (schema, name) =>
        requested.has(name) ? schema : close(schema),
      ),
    },
  } as unknown as ContractDocument;
}

function mapOf(given: Node, change: (value: unknown, name: string) => unknown): Node {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, change(value, name)]));
}

/** The names of the schemas to which a part of the document refers. */
function namesIn(given: unknown): string[] {
  const references = JSON.stringify(given ?? null).matchAll(/"#\/components\/schemas\/([^"/]+)"/g);
  return [...references].map(([, name = '']) => name);
}

/** Parts of an `allOf` stay open: each would refuse the members of the others. */
function close(given: unknown, isPart = false): unknown {
  if (Array.isArray(given)) return given.map((each) => close(each, isPart));
  if (!isNode(given)) return given;
  const entries = Object.entries(given).map(
    ([name, value]) => [name, close(value, name === 'allOf')] as const,
  );
  const isOpen = isNode(given.properties) && given.additionalProperties === undefined && !isPart;
  return Object.fromEntries(isOpen ? [...entries, ['additionalProperties', false]] : entries);
}
