/** Rejects if the promise is not settled in time: a server that hangs answers neither yes nor no. */
export async function deadline<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
