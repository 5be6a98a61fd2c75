/** A Chat Completions server whose output the test controls. */
export type HeldModel = {
  /** environment of the server under test */
  readonly settings: Record<string, string>;
  /** Resolves when the server has sent its request; earlier text is lost. */
  asked(): Promise<void>;
  say(text: string): void;
  end(): void;
  stop(): void;
};

const event = (data: object | string): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const chunk = (delta: object, finish: string | null = null) =>
  event({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });

export function heldModel(): HeldModel {
  const encoder = new TextEncoder();
  let answer: ReadableStreamDefaultController<Uint8Array> | null = null;
  let asked = Promise.withResolvers<void>();
  const send = (text: string) => answer?.enqueue(encoder.encode(text));
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch() {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          answer = controller;
          asked.resolve();
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  return {
    settings: {
      PROVIDER: 'openai',
      MODEL: 'held',
      OPENAI_API: 'chat',
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: `http://127.0.0.1:${server.port}/v1`,
    },
    async asked() {
      await asked.promise;
      asked = Promise.withResolvers();
    },
    say: (text) => send(chunk({ content: text })),
    end() {
      send(chunk({}, 'stop'));
      send(
        event({ id: 'c', choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
      );
      send(event('[DONE]'));
      answer?.close();
    },
    stop: () => void server.stop(true),
  };
}
