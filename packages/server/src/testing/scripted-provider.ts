/** A model with scripted answers: one list of events per answer. */
import type { Prompt, Provider, ProviderEvent } from '../core/ports/provider.ts';

/** `hang`: the stream stays silent until the turn is stopped. */
export type Line = ProviderEvent | { readonly type: 'hang' };

export type ScriptedProvider = Provider & {
  /** received prompts, in order */
  readonly prompts: Prompt[];
  /** resolves when the provider hangs */
  readonly hanging: Promise<void>;
};

export const USAGE = { inputTokens: 10, outputTokens: 5 };

export const says = (...words: string[]): Line[] => [
  ...words.map((text): Line => ({ type: 'text', text })),
  { type: 'ended', usage: USAGE, stop: 'done' },
];

type CallOptions = { readonly before?: Line[]; readonly call?: string };

export const calls = (
  tool: string,
  input: object,
  { before = [], call = 'call_1' }: CallOptions = {},
): Line[] => [
  ...before,
  { type: 'call', call, tool, input: input as never },
  { type: 'ended', usage: USAGE, stop: 'calls' },
];

export function scriptedProvider(answers: readonly (readonly Line[])[]): ScriptedProvider {
  const left = [...answers];
  const prompts: Prompt[] = [];
  const hanging = Promise.withResolvers<void>();
  return {
    name: 'scripted',
    model: 'scripted',
    contextLimit: 1_000,
    prompts,
    hanging: hanging.promise,
    async *stream(prompt, signal) {
      prompts.push(prompt);
      for (const line of left.shift() ?? says('(no more answers)')) {
        if (line.type !== 'hang') {
          yield line;
          continue;
        }
        hanging.resolve();
        const stopped = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => stopped.resolve(), { once: true });
        await stopped.promise;
        yield { type: 'failed', fault: { code: 'cancelled', message: 'stopped' } };
        return;
      }
    },
  };
}
