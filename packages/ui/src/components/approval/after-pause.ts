/** How long nothing may follow a key that answers an approval. People who type pause less between two letters. */
const PAUSE_MS = 900;
/** Keys that were pressed while the thread was busy are read in this time. */
const GRACE_MS = 100;

/**
 * Calls `act` after a second without input; the returned function cancels it. The second timer starts when the first has
 * fired, so that after a busy moment waiting keys are read before `act` is called.
 */
export function afterPause(act: () => void): () => void {
  let timer = setTimeout(() => {
    timer = setTimeout(act, GRACE_MS);
  }, PAUSE_MS);
  return () => clearTimeout(timer);
}
