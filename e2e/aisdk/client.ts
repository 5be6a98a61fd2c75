/** The official client against a test server: `AbstractChat` with a state in memory, and raw requests. */
import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  DefaultChatTransport,
  type DynamicToolUIPart,
  type HttpChatTransportInitOptions,
  isDynamicToolUIPart,
  parseJsonEventStream,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
  validateUIMessages,
} from 'ai';

class MemoryState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready';
  error: Error | undefined = undefined;

  constructor(public messages: UIMessage[]) {}

  pushMessage = (message: UIMessage) => {
    this.messages = [...this.messages, message];
  };

  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: UIMessage) => {
    this.messages = this.messages.with(index, this.snapshot(message));
  };

  snapshot = <Value>(value: Value): Value => structuredClone(value);
}

export class Chat extends AbstractChat<UIMessage> {
  constructor({ messages = [], ...init }: ChatInit<UIMessage>) {
    super({ ...init, state: new MemoryState(messages) });
  }
}

type Options = Omit<ChatInit<UIMessage>, 'transport'> & {
  readonly server: { readonly http: string };
  readonly transport?: HttpChatTransportInitOptions<UIMessage>;
};

export const chatWith = ({ server, transport, ...init }: Options): Chat =>
  new Chat({
    ...init,
    transport: new DefaultChatTransport({ api: `${server.http}/api/chat`, ...transport }),
  });

/** The texts of a message, without reasoning. */
export const textOf = (message: UIMessage | undefined): string =>
  (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('|');

export const textsOf = ({ messages }: { readonly messages: readonly UIMessage[] }): string[] =>
  messages.map((message) => `${message.role}: ${textOf(message)}`);

/** The calls of server tools in the last message. Copies, because some matchers modify the compared values. */
export const serverCalls = (chat: Chat): DynamicToolUIPart[] =>
  structuredClone(chat.lastMessage?.parts ?? []).filter(isDynamicToolUIPart);

export const stateTypes = (message: UIMessage | undefined): string[] =>
  (message?.parts ?? []).map((part) =>
    'state' in part && part.state ? `${part.type} ${part.state}` : part.type,
  );

export const userMessage = (text: string, id: string = crypto.randomUUID()): UIMessage => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
});

export const post = (http: string, body: object | string, headers: Record<string, string> = {}) =>
  fetch(`${http}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** The chunks of a stream, each validated with the schema of the package. Calls `see` with each. */
export async function chunksOf(
  { body }: Response,
  see: (chunk: UIMessageChunk) => unknown = () => undefined,
): Promise<UIMessageChunk[]> {
  if (!body) throw new Error('no body');
  const chunks: UIMessageChunk[] = [];
  for await (const parsed of parseJsonEventStream({ stream: body, schema: uiMessageChunkSchema })) {
    if (!parsed.success) throw parsed.error;
    chunks.push(parsed.value);
    await see(parsed.value);
  }
  return chunks;
}

export const typesOf = (chunks: readonly UIMessageChunk[]): string[] => chunks.map(({ type }) => type);

export const idOf = (chunks: readonly UIMessageChunk[]): string | undefined =>
  chunks.flatMap((chunk) => (chunk.type === 'start' ? [chunk.messageId] : []))[0];

/** The history, validated by the package. */
export async function historyOf(
  http: string,
  id: string,
  headers: Record<string, string> = {},
): Promise<UIMessage[]> {
  const response = await fetch(`${http}/api/chat/${encodeURIComponent(id)}`, { headers });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const { messages } = (await response.json()) as { messages: unknown };
  return validateUIMessages({ messages });
}

/** The visible content: internal fields of the client are left out. */
export const shown = (messages: readonly UIMessage[]): unknown =>
  JSON.parse(
    JSON.stringify(messages, (key, value) =>
      key === 'rawInput' || key === 'preliminary' || key === 'title' ? undefined : value,
    ),
  );
