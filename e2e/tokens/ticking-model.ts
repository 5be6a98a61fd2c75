/** A model whose answers start with a word, continue when the test calls `tick`, and do not end. */

export type TickingModel = {
  /** settings of a server that uses it */
  readonly settings: Record<string, string>;
  /** Adds the word to every open answer. */
  tick(word: string): void;
  stop(): void;
};

function chunk(word: string): Uint8Array {
  const choices = [{ index: 0, delta: { content: `${word} ` }, finish_reason: null }];
  return new TextEncoder().encode(`data: ${JSON.stringify({ id: 'c', choices })}\n\n`);
}

export function tickingModel(first: string): TickingModel {
  const answers = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch({ signal }) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          answers.add(controller);
          controller.enqueue(chunk(first));
          signal.addEventListener('abort', () => answers.delete(controller));
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  return {
    settings: {
      OPENAI_BASE_URL: `http://127.0.0.1:${server.port}/v1`,
      OPENAI_API_KEY: 'key',
      MODEL: 'ticking',
    },
    tick(word) {
      for (const controller of answers) controller.enqueue(chunk(word));
    },
    stop: () => void server.stop(true),
  };
}
