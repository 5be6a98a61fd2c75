/** A model with scripted answers: one list of events per answer. */
import { type FaultCode, type FaultData, textOf } from '@parlance/protocol';
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

/** Models with scripted answers, of which each stands in for those before it: the first one, and all by name. */
export function scriptedChain<Name extends string>(
  answers: Readonly<Record<Name, readonly (readonly Line[])[]>>,
  limits: Partial<Record<Name, number>> = {},
): Record<Name, ScriptedProvider> & { readonly provider: ScriptedProvider } {
  const models = Object.fromEntries(
    Object.entries<readonly (readonly Line[])[]>(answers).map(([model, lines]) => [
      model,
      { ...scriptedProvider(lines), model, contextLimit: limits[model as Name] ?? 1_000 },
    ]),
  ) as Record<Name, ScriptedProvider>;
  const [first, ...fallbacks] = Object.values<ScriptedProvider>(models);
  return { ...models, provider: { ...(first as ScriptedProvider), fallbacks } };
}

/** The answer of a model that cannot answer. */
export const fails = (code: FaultCode, fault: Partial<FaultData> = {}, ...before: Line[]): Line[] => [
  ...before,
  { type: 'failed', fault: { code, message: 'The model is overloaded.', ...fault } },
];

/** A model that answers by the first message of a conversation and how far it is, also after a restart and for several at once. */
export function conversationProvider(
  scripts: Readonly<Record<string, readonly (readonly Line[])[]>>,
): ScriptedProvider {
  const prompts: Prompt[] = [];
  const hanging = Promise.withResolvers<void>();
  return {
    ...scriptedProvider([]),
    prompts,
    hanging: hanging.promise,
    async *stream(prompt, signal, ...more) {
      prompts.push(prompt);
      const isGiven = prompt.items.map(
        ({ kind }) => kind === 'user' || kind === 'result' || kind === 'system',
      );
      const steps = isGiven.filter((given, at) => given && !isGiven[at - 1]).length;
      const first = prompt.items.find((item) => item.kind === 'user');
      const script = scripts[first ? textOf(first.parts) : ''] ?? [];
      const one = scriptedProvider([script[steps - 1] ?? says('(no more answers)')]);
      one.hanging.then(hanging.resolve);
      yield* one.stream(prompt, signal, ...more);
    },
  };
}

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
