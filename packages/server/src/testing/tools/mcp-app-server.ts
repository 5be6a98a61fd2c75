/** An MCP server over HTTP whose tool `draw` has an app. Its other tools are for the app, for the model, or for both. */

export type AppServer = Disposable & {
  readonly url: string;
  /** names and arguments of the calls, in order */
  readonly calls: readonly (readonly [name: string, input: object])[];
  /** capabilities that the client has declared */
  readonly capabilities: object;
};

type Message = {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly uri?: string;
    readonly arguments?: object;
    readonly capabilities?: object;
  };
};

export type ServedApp = {
  readonly html: string;
  readonly csp?: object;
  readonly mimeType?: string;
};

const PAGE = 'ui://charts/draw.html';
const readOnly = { annotations: { readOnlyHint: true } };
const inputSchema = { type: 'object' };

const TOOLS = [
  { name: 'draw', title: 'Draw', inputSchema, ...readOnly, _meta: { ui: { resourceUri: PAGE } } },
  { name: 'refresh', inputSchema, ...readOnly, _meta: { ui: { resourceUri: PAGE, visibility: ['app'] } } },
  { name: 'save', inputSchema },
  { name: 'secret', inputSchema, ...readOnly, _meta: { ui: { visibility: ['model'] } } },
  { name: 'nobody', inputSchema, ...readOnly, _meta: { ui: { visibility: [] } } },
];

/** More than what other clients get of structured data. */
const POINTS = Array.from({ length: 2_000 }, (_, index) => index);

export function appServer({ html, csp, mimeType = 'text/html;profile=mcp-app' }: ServedApp): AppServer {
  const calls: [string, object][] = [];
  let capabilities = {};

  function resultOf({ method, params }: Message): object | null {
    switch (method) {
      case 'initialize':
        capabilities = params?.capabilities ?? {};
        return {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, resources: {} },
          serverInfo: { name: 'charts', version: '1' },
        };
      case 'tools/list':
        return { tools: TOOLS };
      case 'tools/call': {
        const name = params?.name ?? '';
        calls.push([name, params?.arguments ?? {}]);
        return {
          content: [{ type: 'text', text: `${name} number ${calls.length}` }],
          ...(name === 'draw' && { structuredContent: { points: POINTS }, _meta: { seed: 7 } }),
        };
      }
      case 'resources/read':
        if (params?.uri === PAGE)
          return { contents: [{ uri: PAGE, mimeType, text: html, ...(csp && { _meta: { ui: { csp } } }) }] };
        return params?.uri === 'charts://data'
          ? { contents: [{ uri: params.uri, mimeType: 'text/plain', text: 'the data' }] }
          : null;
      default:
        return null;
    }
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method !== 'POST') return new Response(null, { status: 405 });
      const message = (await request.json()) as Message;
      if (message.id === undefined) return new Response(null, { status: 202 });
      const result = resultOf(message);
      const outcome = result ? { result } : { error: { code: -32_601, message: 'not known' } };
      return Response.json({ jsonrpc: '2.0', id: message.id, ...outcome });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    calls,
    get capabilities() {
      return capabilities;
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
}
