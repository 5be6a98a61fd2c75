/** Reads the output of a process. */
import { within } from '../packages/server/src/testing/until.ts';

export type Output = {
  /**
   * Resolves when the process has written this text `times` times, once by default; rejects if it ends before.
   */
  written(words: string, times?: number): Promise<void>;
  /** the whole output; resolves when the process has exited */
  all(): Promise<string>;
};

export function outputOf(stream: ReadableStream<Uint8Array>): Output {
  let text = '';
  let ended = false;
  const looking = new Set<() => void>();
  const look = () => {
    for (const one of looking) one();
  };
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      look();
    }
    ended = true;
    look();
  })();
  return {
    written(words, times = 1) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const one = () => {
        if (text.split(words).length > times) resolve();
        else if (ended) reject(new Error(`it ended without "${words}": ${text}`));
      };
      looking.add(one);
      one();
      return within(promise, () => `"${words}" is not in ${text}`).finally(() => looking.delete(one));
    },
    async all() {
      await reading;
      return text;
    },
  };
}
