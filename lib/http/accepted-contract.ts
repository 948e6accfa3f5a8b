type Node = Record<string, unknown>;

const isNode = (given: unknown): given is Node => typeof given === 'object' && given !== null;
const methods = ['get', 'put', 'post', 'delete', 'patch'];

/**
 * The contract with everything that an instance accepts. openapi.yaml says what new clients send, because
 * generators make poor clients of alternatives: a list or a text, JSON or a form post, a body or none. Its
 * `x-` members name what existing clients and pages send as well (docs/clients.md, "Generated clients").
 */
export function acceptedContract<Contract extends object>(document: Contract): Contract {
  const { paths = {}, components = {} } = document as { paths?: Node; components?: Node };
  const { schemas } = components as { schemas?: unknown };
  const accepted = Object.entries(paths).map(([path, item]) => [path, acceptedPath(item as Node)]);
  return {
    ...document,
    paths: Object.fromEntries(accepted),
    components: schemas === undefined ? components : { ...components, schemas: acceptedSchemas(schemas) },
  };
}

function acceptedPath(item: Node): Node {
  const operations = methods.flatMap((method) => {
    const operation = item[method];
    return isNode(operation) ? [[method, acceptedOperation(operation)]] : [];
  });
  return { ...item, ...Object.fromEntries(operations) };
}

/** `x-ignored-body`: what older clients and the buttons of pages send, and no one reads. */
function acceptedOperation({ 'x-ignored-body': ignored, ...operation }: Node): Node {
  const { requestBody } = operation;
  if (isNode(requestBody)) return { ...operation, requestBody: acceptedBody(requestBody) };
  return ignored ? { ...operation, requestBody: ignored } : operation;
}

/** What the forms of pages send, by the member that names it. */
const forms = {
  'x-form-post': 'application/x-www-form-urlencoded',
  'x-multipart-post': 'multipart/form-data',
};

/** `x-or-absent`: a request without a body is not refused. */
function acceptedBody({ 'x-or-absent': isOptional, ...body }: Node): Node {
  const posts = Object.entries(forms).flatMap(([name, type]) => (body[name] ? [[type, body[name]]] : []));
  const rest = Object.entries(body).filter(([name]) => !Object.hasOwn(forms, name));
  return {
    ...Object.fromEntries(rest),
    ...(isOptional ? { required: false } : {}),
    ...(body.content ? { content: { ...body.content, ...Object.fromEntries(posts) } } : {}),
  };
}

/** What a schema with an `x-` member accepts besides itself. */
const alternatives: Record<string, (schema: Node) => Node> = {
  // A text in place of a list with one text.
  'x-or-text': ({ items }) => items as Node,
  // A list with one text in place of the text, as programs send that read a form.
  'x-or-list': ({ maxLength }) => ({
    type: 'array',
    items: maxLength === undefined ? { type: 'string' } : { type: 'string', maxLength },
  }),
  // Epoch milliseconds in place of a time.
  'x-or-integer': () => ({ type: 'integer', format: 'int64' }),
};

function acceptedSchemas(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(acceptedSchemas);
  if (!isNode(node)) return node;
  const copy: Node = Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, acceptedSchemas(value)]),
  );
  const found = Object.keys(alternatives).find((name) => copy[name] === true);
  const alternative = found && alternatives[found];
  if (!alternative) return copy;
  const { [found]: _, description, ...schema } = copy;
  return { ...(description ? { description } : {}), oneOf: [schema, alternative(schema)] };
}
