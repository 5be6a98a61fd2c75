/** An MCP server over HTTP whose tool `ask` needs something of its client, and ends with what it was told. */

export type AskingServer = AsyncDisposable & {
  readonly url: string;
  /** calls that the client gave up */
  readonly cancelled: number;
  /** Ends the open call of the earlier era, whatever it waits for. */
  finish(text: string): void;
};

type Message = {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly inputResponses?: Record<string, object>;
    readonly _meta?: { readonly progressToken?: string | number };
  };
  readonly result?: object;
};

/** A request of the server, or progress that it sends. */
export type Wanted = {
  readonly method?: string;
  readonly progress?: readonly number[];
  readonly pauseMs?: number;
};

const said = (value: unknown) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
});

export function askingServer(era: '2025' | '2026', wanted: readonly Wanted[]): AskingServer {
  const complete = era === '2026' ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
  const answers = new Map<string, (result: object) => void>();
  const finish = Promise.withResolvers<string>();
  let cancelled = 0;
  let asked = 0;

  function resultOf({ method, params }: Message): object | null {
    const capabilities = { tools: {} };
    switch (method) {
      case 'server/discover':
        return era === '2026' ? { ...complete, supportedVersions: ['2026-07-28'], capabilities } : null;
      case 'initialize':
        return era === '2025'
          ? { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'asking', version: '1' } }
          : null;
      case 'tools/list':
        return { ...complete, tools: [{ name: 'ask', inputSchema: { type: 'object' } }] };
      case 'tools/call':
        return params?.inputResponses
          ? { ...complete, ...said(wanted.map((_, index) => params.inputResponses?.[`request ${index}`])) }
          : {
              resultType: 'input_required',
              inputRequests: Object.fromEntries(
                wanted.map((request, index) => [`request ${index}`, request]),
              ),
              requestState: 'a state',
            };
      default:
        return null;
    }
  }

  /** The call of the earlier era: a stream on which the server asks. */
  function stream({ id, params }: Message, signal: AbortSignal): Response {
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        const send = (message: object) => {
          if (!signal.aborted)
            controller.enqueue(encoder.encode(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`));
        };
        async function told(): Promise<object[]> {
          const results: object[] = [];
          for (const { progress, pauseMs = 0, ...request } of wanted) {
            for (const step of progress ?? []) {
              await Bun.sleep(pauseMs);
              const progressToken = params?._meta?.progressToken;
              const update = {
                progressToken,
                progress: step,
                total: progress?.length,
                message: `step ${step}`,
              };
              send({ method: 'notifications/progress', params: update });
            }
            if (progress) continue;
            const name = `request ${asked++}`;
            const { promise, resolve } = Promise.withResolvers<object>();
            answers.set(name, resolve);
            send({ id: name, ...request });
            results.push(await promise);
          }
          return results;
        }
        send({ id, result: said(await Promise.race([told(), finish.promise])) });
        if (!signal.aborted) controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      if (request.method !== 'POST') return new Response(null, { status: 405 });
      const message = (await request.json()) as Message;
      if (message.method === 'notifications/cancelled') cancelled++;
      if (message.result && message.id !== undefined) answers.get(String(message.id))?.(message.result);
      if (message.id === undefined || message.method === undefined)
        return new Response(null, { status: 202 });
      if (era === '2025' && message.method === 'tools/call') return stream(message, request.signal);
      const result = resultOf(message);
      const outcome = result ? { result } : { error: { code: -32_601, message: 'unknown method' } };
      return Response.json({ jsonrpc: '2.0', id: message.id, ...outcome });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    get cancelled() {
      return cancelled;
    },
    finish: finish.resolve,
    [Symbol.asyncDispose]: async () => void (await server.stop(true)),
  };
}
