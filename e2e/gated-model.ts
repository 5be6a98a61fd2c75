/** A model that starts its answers and ends them when the test releases it. */

const event = (data: object | string): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const chunk = (delta: object, finish: string | null = null) =>
  event({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] });

export type GatedModel = {
  /** settings of a server that uses it */
  readonly settings: Record<string, string>;
  /** ends every open answer, and all that follow */
  release(): void;
  stop(): Promise<void>;
};

export function gatedModel(): GatedModel {
  const released = Promise.withResolvers<void>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: () =>
      new Response(
        async function* () {
          yield chunk({ role: 'assistant', content: 'Half ' });
          await released.promise;
          yield chunk({ content: 'and whole.' });
          yield chunk({}, 'stop');
          yield event('[DONE]');
        },
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  });
  return {
    settings: {
      OPENAI_BASE_URL: `http://127.0.0.1:${server.port}/v1`,
      OPENAI_API_KEY: 'key',
      MODEL: 'gated',
    },
    release: released.resolve,
    stop: () => server.stop(true),
  };
}
