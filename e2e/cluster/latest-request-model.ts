/**
 * A model that the test dictates. Output goes to the latest request: requests of failed nodes receive nothing.
 */

export type LatestRequestModel = {
  /** settings of a server that uses it */
  readonly settings: Record<string, string>;
  /** resolves with the next request */
  asked(): Promise<void>;
  say(words: string): void;
  /** ends the answer with a call */
  call(tool: string, input: object): void;
  /** ends the answer */
  end(): void;
  stop(): void;
};

type ModelChunk = { readonly delta: object; readonly ends: 'stop' | 'tool_calls' | null };

const chunk = (delta: object, finish: string | null): string => {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices })}\n\n`;
};

export function latestRequestModel(): LatestRequestModel {
  const dictated: ModelChunk[] = [];
  let requests = 0;
  let wake = Promise.withResolvers<void>();
  let asked = Promise.withResolvers<void>();
  const changed = (): void => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const put = (delta: object, ends: ModelChunk['ends'] = null): void => {
    dictated.push({ delta, ends });
    changed();
  };

  async function* answer(signal: AbortSignal): AsyncGenerator<string> {
    const mine = ++requests;
    signal.addEventListener('abort', changed);
    asked.resolve();
    asked = Promise.withResolvers();
    changed();
    while (!signal.aborted && mine === requests) {
      const next = dictated.shift();
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
    fetch: ({ signal }) =>
      new Response(
        async function* () {
          yield* answer(signal);
        },
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  });
  return {
    settings: {
      OPENAI_BASE_URL: `http://127.0.0.1:${server.port}/v1`,
      OPENAI_API_KEY: 'key',
      MODEL: 'asked',
    },
    asked: () => asked.promise,
    say: (words) => put({ content: words }),
    call(tool, input) {
      const named = { name: tool, arguments: JSON.stringify(input) };
      const id = `call_${crypto.randomUUID()}`;
      put({ tool_calls: [{ index: 0, id, type: 'function', function: named }] }, 'tool_calls');
    },
    end: () => put({}, 'stop'),
    stop: () => void server.stop(true),
  };
}
