/**
 * A model that the test dictates: an answer stays open until the test ends it. Output goes to the latest request, so that
 * requests of killed servers receive nothing.
 */

export type DictatedModel = {
  /** settings of a server that uses it */
  readonly settings: Record<string, string>;
  /** resolves with the next request */
  asked(): Promise<void>;
  think(words: string): void;
  say(words: string): void;
  /** ends the answer with a call */
  call(tool: string, input: object): void;
  /** ends the answer */
  end(): void;
  /** ends the answer with an error that is retried */
  fail(message: string): void;
  stop(): void;
};

type ModelChunk =
  | { readonly delta: object; readonly ends: 'stop' | 'tool_calls' | null }
  | { readonly error: string };

const chunk = (delta: object, finish: string | null): string => {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices })}\n\n`;
};

export function dictatedModel(): DictatedModel {
  const dictated: ModelChunk[] = [];
  let requests = 0;
  let wake = Promise.withResolvers<void>();
  let asked = Promise.withResolvers<void>();
  const changed = (): void => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const add = (next: ModelChunk): void => {
    dictated.push(next);
    changed();
  };
  const put = (delta: object, ends: 'stop' | 'tool_calls' | null = null): void => add({ delta, ends });

  async function* answer(signal: AbortSignal): AsyncGenerator<string> {
    const mine = ++requests;
    signal.addEventListener('abort', changed);
    asked.resolve();
    asked = Promise.withResolvers();
    changed();
    while (!signal.aborted && mine === requests) {
      const next = dictated.shift();
      if (next && 'error' in next)
        return yield `data: ${JSON.stringify({ error: { code: 503, message: next.error } })}\n\n`;
      if (next) yield chunk(next.delta, next.ends);
      if (next?.ends) return yield 'data: [DONE]\n\n';
      if (!next) await wake.promise;
    }
    // The connection stays open: its node may be paused.
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch({ method, signal }) {
      // A request for the list of models must not take what is meant for a turn.
      if (method !== 'POST') return new Response(null, { status: 404 });
      return new Response(
        async function* () {
          yield* answer(signal);
        },
        { headers: { 'content-type': 'text/event-stream' } },
      );
    },
  });
  return {
    settings: {
      OPENAI_BASE_URL: `http://127.0.0.1:${server.port}/v1`,
      OPENAI_API_KEY: 'key',
      MODEL: 'dictated',
    },
    asked: () => asked.promise,
    think: (words) => put({ reasoning_content: words }),
    say: (words) => put({ content: words }),
    call(tool, input) {
      const named = { name: tool, arguments: JSON.stringify(input) };
      const id = `call_${crypto.randomUUID()}`;
      put({ tool_calls: [{ index: 0, id, type: 'function', function: named }] }, 'tool_calls');
    },
    end: () => put({}, 'stop'),
    fail: (message) => add({ error: message }),
    stop: () => void server.stop(true),
  };
}
