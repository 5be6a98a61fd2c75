/** A Chat Completions server with scripted answers: the model behind a real server, for tests. */

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
  /** the answer is cut off by a limit, or by the vendor's filter */
  | { readonly say: string; readonly finish: 'length' | 'content_filter' };

/** reported usage */
export type CountTokens = (request: ChatRequest, answer: Answer) => { prompt: number; completion: number };

export type FakeModel = {
  readonly url: string;
  readonly requests: ChatRequest[];
  /** resolves when the server has aborted a request */
  readonly aborted: Promise<void>;
  stop(): void;
};

const event = (data: object | string): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const chunk = (delta: object, finish: string | null = null) =>
  event({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });

export function fakeModel(
  answer: (request: ChatRequest, count: number) => Answer | Promise<Answer>,
  count: CountTokens = () => ({ prompt: 100, completion: 5 }),
): FakeModel {
  const requests: ChatRequest[] = [];
  const aborted = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const body = (await request.json()) as ChatRequest;
      requests.push(body);
      request.signal.addEventListener('abort', () => aborted.resolve());
      const said = await answer(body, requests.length);
      if ('status' in said) return Response.json({ error: { message: said.message ?? 'no' } }, said);
      return new Response(stream(said, count(body, said)), {
        headers: { 'content-type': 'text/event-stream' },
      });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    requests,
    aborted: aborted.promise,
    stop: () => void server.stop(true),
  };
}

function stream(
  said: Exclude<Answer, { status: number }>,
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
