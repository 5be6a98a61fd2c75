/** A store that is closed refuses everything, by rejecting. */
export interface Openness {
  /** The operation as a port wants it: whatever it throws, or that the store is closed, is a rejection. */
  whileOpen<Arguments extends unknown[], Result>(
    operation: (...given: Arguments) => Result,
  ): (...given: Arguments) => Promise<Awaited<Result>>;
  /** False where it was closed already. */
  close(): boolean;
}

export function openness(): Openness {
  let open = true;
  return {
    whileOpen<Arguments extends unknown[], Result>(operation: (...given: Arguments) => Result) {
      return async (...given: Arguments): Promise<Awaited<Result>> => {
        if (!open) throw new Error('the store is closed');
        return await operation(...given);
      };
    },
    close() {
      const was = open;
      open = false;
      return was;
    },
  };
}
