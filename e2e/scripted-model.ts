/** A Chat Completions server with scripted answers: the model behind a real server, for tests. */
import { until } from '../packages/server/src/testing/until.ts';

export type ChatMessage = { readonly role: string; readonly content: unknown; readonly tool_calls?: unknown };
export type ChatRequest = {
  readonly model: string;
  readonly messages: ChatMessage[];
  readonly tools?: { function: { name: string } }[];
};

export type Answer =
  | { readonly say: string; readonly think?: string; readonly finish?: 'length' | 'content_filter' }
  | { readonly call: string; readonly input: object }
  /** several at once, each with its input */
  | { readonly calls: readonly (readonly [tool: string, input: object])[] }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly message?: string }
  /** some text, then the connection is cut or stays silent */
  | { readonly say: string; readonly think?: string; readonly after: 'cut' | 'silence' }
  /** text that the test controls while it is sent */
  | { readonly stream: AsyncIterable<string> }
  /** the answer is cut off by a limit, or by the vendor's filter */
  | { readonly say: string; readonly finish: 'length' | 'content_filter' };

/** reported usage */
export type CountTokens = (request: ChatRequest, answer: Answer) => { prompt: number; completion: number };

export type ScriptedModel = {
  readonly url: string;
  /** of a server that uses it */
  readonly settings: Readonly<Record<string, string>>;
  readonly requests: ChatRequest[];
  /** resolves when the server has aborted a request */
  readonly aborted: Promise<void>;
  stop(): void;
};

const event = (data: object | string): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const chunk = (delta: object, finish: string | null = null) =>
  event({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });

export function scriptedModel(
  answer: (request: ChatRequest, count: number) => Answer | Promise<Answer>,
  count: CountTokens = () => ({ prompt: 100, completion: 5 }),
): ScriptedModel {
  const requests: ChatRequest[] = [];
  const aborted = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      if (request.method !== 'POST') return new Response(null, { status: 404 });
      const body = (await request.json()) as ChatRequest;
      requests.push(body);
      request.signal.addEventListener('abort', () => aborted.resolve());
      const said = await answer(body, requests.length);
      if ('status' in said) return Response.json({ error: { message: said.message ?? 'no' } }, said);
      if ('stream' in said) return eventStream(() => textChunks(said.stream));
      return new Response(stream(said, count(body, said)), {
        headers: { 'content-type': 'text/event-stream' },
      });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    settings: settingsOf(server),
    requests,
    aborted: aborted.promise,
    stop: () => void server.stop(true),
  };
}

const settingsOf = ({ port }: { readonly port?: number | undefined }) => ({
  OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
  OPENAI_API_KEY: 'key',
  MODEL: 'fake',
});

const eventStream = (chunks: () => AsyncIterable<string>): Response =>
  new Response(
    async function* () {
      yield* chunks();
    },
    { headers: { 'content-type': 'text/event-stream' } },
  );

async function* textChunks(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield chunk({ content: text });
  yield chunk({}, 'stop');
  yield event('[DONE]');
}

function stream(
  said: Exclude<Answer, { status: number } | { stream: unknown }>,
  { prompt, completion }: ReturnType<CountTokens>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      const send = (text: string) => controller.enqueue(encoder.encode(text));
      if ('call' in said || 'calls' in said) {
        const calls = 'calls' in said ? said.calls : [[said.call, said.input] as const];
        for (const [index, [name, input]] of calls.entries()) {
          const call = { name, arguments: JSON.stringify(input) };
          const id = `call_${crypto.randomUUID()}`;
          send(chunk({ tool_calls: [{ index, id, type: 'function', function: call }] }));
        }
        send(chunk({}, 'tool_calls'));
      } else {
        if ('think' in said) send(chunk({ reasoning_content: said.think }));
        for (const word of said.say.split(/(?<= )/)) send(chunk({ content: word }));
        if ('after' in said && said.after === 'silence') return;
        if ('after' in said) return controller.close();
        send(chunk({}, ('finish' in said && said.finish) || 'stop'));
      }
      send(
        event({
          id: 'c',
          choices: [],
          usage: {
            prompt_tokens: prompt,
            completion_tokens: completion,
            total_tokens: prompt + completion,
          },
        }),
      );
      send(event('[DONE]'));
      controller.close();
    },
  });
}

export type GatedModel = ScriptedModel & {
  /** ends every open answer, and all that follow */
  release(): void;
};

/** A model that starts its answers and ends them when the test releases it. */
export function gatedModel(): GatedModel {
  const released = Promise.withResolvers<void>();
  async function* halves(): AsyncGenerator<string> {
    yield 'Half ';
    await released.promise;
    yield 'and whole.';
  }
  return { ...scriptedModel(() => ({ stream: halves() })), release: released.resolve };
}

export type DictatedModel = {
  /** settings of a server that uses it */
  readonly settings: Record<string, string>;
  /** resolves with the next request */
  asked(): Promise<void>;
  /** Resolves when no answer is open: a turn that was cancelled closes its request a moment later. */
  idle(): Promise<void>;
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

/**
 * A model that the test dictates: an answer stays open until the test ends it. Output goes to the latest request, so that
 * requests of killed servers receive nothing.
 */
export function dictatedModel(): DictatedModel {
  const dictated: ModelChunk[] = [];
  let requests = 0;
  let open = 0;
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
    open++;
    try {
      while (!signal.aborted && mine === requests) {
        const next = dictated.shift();
        if (next && 'error' in next) return yield event({ error: { code: 503, message: next.error } });
        if (next) yield chunk(next.delta, next.ends);
        if (next?.ends) return yield event('[DONE]');
        if (!next) await wake.promise;
      }
    } finally {
      open--;
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
      return eventStream(() => answer(signal));
    },
  });
  return {
    settings: settingsOf(server),
    asked: () => asked.promise,
    idle: async () => void (await until(() => open === 0)),
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
