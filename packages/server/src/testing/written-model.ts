import type { Provider } from '../core/ports/provider.ts';
import { type Line, USAGE } from './scripted-provider.ts';

/** A model whose answer the test writes piece by piece. */
export function writtenModel() {
  let say: (line: Line) => void = () => undefined;
  const prompts: unknown[] = [];
  const begun = Promise.withResolvers<void>();
  const provider: Provider = {
    name: 'written',
    model: 'written',
    contextLimit: 1_000,
    async *stream(prompt, signal) {
      prompts.push(prompt);
      const lines: Line[] = [];
      let wake = Promise.withResolvers<void>();
      say = (line) => {
        lines.push(line);
        wake.resolve();
      };
      signal.addEventListener('abort', () => wake.resolve());
      begun.resolve();
      for (;;) {
        for (let line = lines.shift(); line; line = lines.shift()) if (line.type !== 'hang') yield line;
        if (signal.aborted) return;
        wake = Promise.withResolvers();
        if (lines.length === 0) await wake.promise;
      }
    },
  };
  return {
    provider,
    prompts,
    begun: begun.promise,
    say: (line: Line) => say(line),
    write: (text: string) => say({ type: 'text', text }),
    end: () => say({ type: 'ended', usage: USAGE, stop: 'done' }),
  };
}
