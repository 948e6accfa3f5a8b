/** A span as a collector gets it. */
export interface ExportedSpan {
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentId: string;
  name: string;
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** Nanoseconds since 1970. */
  start: bigint;
  end: bigint;
  attributes: Record<string, unknown>;
  failed: boolean;
  /** `service.name` of the process. */
  process: unknown;
}

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

/** Reads an ExportTraceServiceRequest (opentelemetry-proto, trace/v1). */
export function readExport(body: Buffer): ExportedSpan[] {
  return messages(body, 1).flatMap((resourceSpans) => {
    const [resource = Buffer.alloc(0)] = messages(resourceSpans, 1);
    const process = readAttributes(resource, 1)['service.name'];
    return messages(resourceSpans, 2)
      .flatMap((scopeSpans) => messages(scopeSpans, 2))
      .map((span) => readSpan(span, process));
  });
}

function readSpan(span: Buffer, process: unknown): ExportedSpan {
  const id = (field: number) => messages(span, field)[0]?.toString('hex') ?? '';
  const time = (field: number) => numbers(span, field)[0] ?? 0n;
  const [status = Buffer.alloc(0)] = messages(span, 15);
  return {
    traceId: id(1),
    spanId: id(2),
    parentId: id(4),
    name: messages(span, 5)[0]?.toString('utf8') ?? '',
    kind: kinds[Number(numbers(span, 6)[0] ?? 0n)] ?? 'internal',
    start: time(7),
    end: time(8),
    attributes: readAttributes(span, 9),
    failed: numbers(status, 3)[0] === 2n,
    process,
  };
}

function readAttributes(message: Buffer, field: number): Record<string, unknown> {
  return Object.fromEntries(
    messages(message, field).map((pair) => {
      const [value = Buffer.alloc(0)] = messages(pair, 2);
      const text = messages(value, 1)[0]?.toString('utf8');
      return [messages(pair, 1)[0]?.toString('utf8'), text ?? Number(numbers(value, 3)[0])];
    }),
  );
}

const messages = (message: Buffer, field: number) =>
  [...fieldsOf(message)].flatMap(([each, value]) =>
    each === field && typeof value === 'object' ? [value] : [],
  );
const numbers = (message: Buffer, field: number) =>
  [...fieldsOf(message)].flatMap(([each, value]) =>
    each === field && typeof value === 'bigint' ? [value] : [],
  );

/** The fields of a message: the wire format of Protocol Buffers. */
function* fieldsOf(message: Buffer): Generator<[number, bigint | Buffer]> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const [field, type] = [tag >> 3, tag & 7];
    if (type === 0) yield [field, varint()];
    else if (type === 1) {
      yield [field, message.readBigUInt64LE(at)];
      at += 8;
    } else if (type === 2) {
      const length = Number(varint());
      yield [field, message.subarray(at, at + length)];
      at += length;
    } else if (type === 5) {
      yield [field, BigInt(message.readUInt32LE(at))];
      at += 4;
    } else throw new Error(`wire type ${type} at ${at}`);
  }
}
