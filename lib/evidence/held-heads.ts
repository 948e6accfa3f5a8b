/** A head that a checkpoint from elsewhere states. */
export interface HeldHead {
  size: number;
  /** SHA-256, hexadecimal. */
  root: string;
  /** Of the file of checkpoints. */
  line: number;
}

/** The heads of one log that checkpoints from elsewhere state: of ten years there are millions. */
export interface HeldHeads {
  /** A head like the one before is left out. */
  add(head: HeldHead): void;
  /** Call after the last `add`. */
  sort(): void;
  smallest(): HeldHead | undefined;
  largest(): HeldHead | undefined;
  removeSmallest(): void;
}

/** Size and line, each as a double, and the root. */
const bytes = 8 + 8 + 32;
const perChunk = 16_384;

/** Keeps 48 bytes of each head outside the heap, and 4 more if their sizes neither grow nor shrink. */
export function createHeldHeads(): HeldHeads {
  const chunks: Buffer[] = [];
  let length = 0;
  let removed = 0;
  let grow = true;
  let shrink = true;
  let order: Uint32Array | undefined;

  const placeOf = (index: number) => ({
    chunk: chunks[Math.floor(index / perChunk)] as Buffer,
    at: (index % perChunk) * bytes,
  });
  const sizeOf = (index: number) => {
    const { chunk, at } = placeOf(index);
    return chunk.readDoubleLE(at);
  };
  const read = (index: number): HeldHead => {
    const { chunk, at } = placeOf(index);
    return {
      size: chunk.readDoubleLE(at),
      line: chunk.readDoubleLE(at + 8),
      root: chunk.toString('hex', at + 16, at + bytes),
    };
  };
  /** @param rank 0 for the smallest of all. */
  const ranked = (rank: number) => read(order?.[rank] ?? (grow ? rank : length - 1 - rank));

  return {
    add({ size, root, line }) {
      const before = length > 0 ? read(length - 1) : undefined;
      if (before?.size === size && before.root === root) return;
      if (before) {
        grow &&= before.size <= size;
        shrink &&= before.size >= size;
      }
      if (length % perChunk === 0) chunks.push(Buffer.alloc(perChunk * bytes));
      const { chunk, at } = placeOf(length);
      chunk.writeDoubleLE(size, at);
      chunk.writeDoubleLE(line, at + 8);
      chunk.write(root, at + 16, 'hex');
      length += 1;
    },
    sort() {
      if (grow || shrink) return;
      order = Uint32Array.from({ length }, (_, index) => index).sort((a, b) => sizeOf(a) - sizeOf(b));
    },
    smallest: () => (removed < length ? ranked(removed) : undefined),
    largest: () => (removed < length ? ranked(length - 1) : undefined),
    removeSmallest() {
      removed += 1;
    },
  };
}
