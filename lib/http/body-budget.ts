/** Bounds the memory that bodies take which are still arriving: a client can take its time with each of them. */
export interface BodyBudget {
  /** @returns false if there is no room for so many more bytes. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** Beyond what each body may hold anyway. Some thirty of the largest that the contract allows. */
const mostBytes = 32 * 1024 * 1024;

export function createBodyBudget(): BodyBudget {
  let taken = 0;
  return {
    take(bytes) {
      if (taken + bytes > mostBytes) return false;
      taken += bytes;
      return true;
    },
    give(bytes) {
      taken -= bytes;
    },
  };
}
