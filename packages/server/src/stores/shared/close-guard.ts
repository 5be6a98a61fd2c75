/** Makes a closed store reject every operation. */
export interface CloseGuard {
  /** Wraps an operation: a thrown error or a closed store becomes a rejection. */
  whileOpen<Arguments extends unknown[], Result>(
    operation: (...given: Arguments) => Result,
  ): (...given: Arguments) => Promise<Awaited<Result>>;
  /** Returns false if it was already closed. */
  close(): boolean;
}

export function closeGuard(): CloseGuard {
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
