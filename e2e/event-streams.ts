/** A stream of server-sent events of each dialect, and how it ends when the server closes it. */

export type StreamCase = {
  readonly dialect: string;
  readonly path: string;
  /** absent: GET */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** sent once the answer has started */
  readonly started: string;
  /** the last events; `reason` is part of the message */
  readonly ending: (reason: string) => RegExp;
};

const user = (content: string) => ({ role: 'user', content });

export const STREAMS: readonly StreamCase[] = [
  {
    dialect: 'openai',
    path: '/openai/v1/chat/completions',
    body: { model: 'parlance', stream: true, messages: [user('Chat')] },
    started: 'Half',
    ending: (reason) => new RegExp(`data: \\{"error":\\{"message":"${reason}[^\\n]*\\n\\n$`),
  },
  {
    dialect: 'openai',
    path: '/openai/v1/responses',
    body: { model: 'parlance', stream: true, input: 'Respond' },
    started: 'Half',
    ending: (reason) => new RegExp(`event: error\\ndata: [^\\n]*"message":"${reason}[^\\n]*\\n\\n$`),
  },
  {
    dialect: 'anthropic',
    path: '/anthropic/v1/messages',
    body: { model: 'parlance', max_tokens: 1_000, stream: true, messages: [user('Message')] },
    started: 'Half',
    ending: (reason) => new RegExp(`event: error\\ndata: [^\\n]*"message":"${reason}[^\\n]*\\n\\n$`),
  },
  {
    dialect: 'agui',
    path: '/agui',
    body: { threadId: 'run', runId: 'r1', messages: [{ id: 'm1', ...user('Run') }] },
    started: 'Half',
    ending: (reason) =>
      new RegExp(`data: \\{"type":"RUN_ERROR","message":"${reason}[^\\n]*"code":"shutting_down"\\}\\n\\n$`),
  },
  {
    dialect: 'aisdk',
    path: '/api/chat',
    body: { id: 'chat', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Chat' }] }] },
    started: 'Half',
    ending: (reason) =>
      new RegExp(`data: \\{"type":"error","errorText":"${reason}[^\\n]*\\n\\ndata: \\[DONE\\]\\n\\n$`),
  },
  {
    dialect: 'a2a',
    path: '/a2a',
    headers: { 'a2a-version': '1.0' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Task' }] } },
    },
    started: 'Half',
    ending: (reason) =>
      new RegExp(`data: \\{"jsonrpc":"2.0","id":1,"error":\\{[^\\n]*"message":"${reason}[^\\n]*\\n\\n$`),
  },
  {
    dialect: 'mcp',
    path: '/mcp',
    headers: { accept: 'application/json, text/event-stream' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'send_message', arguments: { text: 'Call' } },
    },
    started: ': open',
    // The result says that the turn continues.
    ending: () => /data: \{"jsonrpc":"2.0","id":1,"result":[^\n]*"status":"running"[^\n]*\n\n$/,
  },
  {
    dialect: 'mcp',
    path: '/mcp',
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    body: {
      jsonrpc: '2.0',
      id: 3,
      method: 'tools/call',
      params: { name: 'send_message', arguments: { text: 'Call' } },
    },
    started: 'id: ',
    // Without a result, the client resumes the stream.
    ending: () => /^(?!.*"result").*\n\n$/s,
  },
  {
    dialect: 'mcp',
    path: '/mcp',
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'send_message',
    },
    body: {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: {
        name: 'send_message',
        arguments: { text: 'Call' },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    },
    started: ': open',
    // A disconnect of the client would cancel the turn.
    ending: () => /data: \{"jsonrpc":"2.0","id":2,"result":[^\n]*"status":"running"[^\n]*\n\n$/,
  },
  {
    dialect: 'native',
    path: '/v1/activity',
    headers: { accept: 'text/event-stream' },
    started: 'event: ready',
    // Clients reconnect: the stream only has to end in order.
    ending: () => /\n\n$/,
  },
];

export type OpenedStream = {
  /** all of the text; rejects if the connection breaks before the stream has ended */
  readonly whole: Promise<string>;
};

/** Resolves when the answer has started. */
export async function openStream(
  url: string,
  { path, body, headers, started }: StreamCase,
  token: string | null = null,
): Promise<OpenedStream> {
  const response = await fetch(url + path, {
    method: body ? 'POST' : 'GET',
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok || !response.body) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  let text = '';
  const more = async (): Promise<boolean> => {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done });
    return !done;
  };
  while (!text.includes(started))
    if (!(await more())) throw new Error(`${path} ended before it had started: ${text}`);
  const rest = async () => {
    while (await more());
    return text;
  };
  const whole = rest();
  whole.catch(() => undefined);
  return { whole };
}
