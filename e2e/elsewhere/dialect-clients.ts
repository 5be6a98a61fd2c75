/** One conversation in each dialect with an official client: the same few operations with each client. */
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import type { TestServer } from '../../packages/server/src/testing/server.ts';
import * as a2a from '../a2a/client.ts';
import { Editor } from '../acp/editor.ts';
import * as agui from '../agui/client.ts';
import * as aisdk from '../aisdk/client.ts';
import { anthropicClient, textIn } from '../anthropic/client.ts';
import { connect, type Era } from '../mcp/clients.ts';
import { openaiClient } from '../openai/client.ts';

export type DialectClient = {
  /** known after the first message */
  readonly session: string;
  /** Resolves with the answer. */
  say(text: string): Promise<string>;
  /** The messages of both sides as the dialect shows them to a new client; null if it cannot. */
  readonly history: (() => Promise<string[]>) | null;
  close(): Promise<unknown>;
};

export type Place = {
  readonly server: TestServer;
  readonly token: string;
  /** the id of the session, if the client chooses it */
  readonly session: string;
};

const nothing = async () => undefined;

const mcp =
  (era: Era) =>
  async ({ server, token, session }: Place): Promise<DialectClient> => {
    const client = await connect(era, server.http, { token });
    return {
      session,
      say: async (text) => (await client.turn('send_message', { text, session })).text,
      async history() {
        const { structuredContent } = await client.call('read_session', { session });
        return (structuredContent as { messages: { text: string }[] }).messages.map(({ text }) => text);
      },
      close: () => client.close(),
    };
  };

/** The text of each message, in the order of their first chunks. */
function messagesIn(editor: Editor, session: string): string[] {
  const texts = new Map<string, string>();
  for (const update of editor.of(session)) {
    if (update.sessionUpdate !== 'user_message_chunk' && update.sessionUpdate !== 'agent_message_chunk')
      continue;
    const id = update.messageId ?? '';
    if (update.content.type === 'text') texts.set(id, (texts.get(id) ?? '') + update.content.text);
  }
  return [...texts.values()];
}

async function acp({ server, token }: Place): Promise<DialectClient> {
  const open = () =>
    new Editor({ env: { PARLANCE_URL: server.http, PARLANCE_TOKEN: token }, cwd: server.root });
  const editor = open();
  await editor.initialize();
  const session = await editor.newSession(server.root);
  return {
    session,
    async say(text) {
      const before = editor.text(session).length;
      await editor.prompt(session, text);
      return editor.text(session).slice(before);
    },
    async history() {
      await using other = open();
      await other.load(session, server.root);
      return messagesIn(other, session);
    },
    close: () => editor.kill(),
  };
}

async function aisdkChat({ server, token, session }: Place): Promise<DialectClient> {
  const headers = { authorization: `Bearer ${token}` };
  const chat = aisdk.chatWith({ server, id: session, transport: { headers } });
  return {
    session,
    async say(text) {
      await chat.sendMessage({ text });
      return aisdk.textOf(chat.lastMessage);
    },
    history: async () => (await aisdk.historyOf(server.http, session, headers)).map(aisdk.textOf),
    close: nothing,
  };
}

async function aguiThread({ server, token, session }: Place): Promise<DialectClient> {
  const agent = agui.httpAgent(server.http, { thread: session, token });
  return {
    session,
    say: async (text) => agui.contentOf((await agui.run(agent, text)).newMessages, 'assistant').join(''),
    async history() {
      const other = agui.httpAgent(server.http, { thread: session, token });
      await agui.run(other, null);
      return other.messages.map(({ content }) => String(content ?? ''));
    },
    close: nothing,
  };
}

async function a2aContext({ server, token, session }: Place): Promise<DialectClient> {
  const client = await a2a.connect(server.http);
  const options = { serviceParameters: { Authorization: `Bearer ${token}` } };
  return {
    session,
    async say(text) {
      const message = a2a.messageOf(text, { contextId: session });
      const task = await client.sendMessage(a2a.requestOf(message), options);
      return 'artifacts' in task ? a2a.textOf(task) : '';
    },
    async history() {
      const params = { ...a2a.LIST, contextId: session, includeArtifacts: true };
      const { tasks } = await client.listTasks(params, options);
      return tasks.reverse().flatMap((task) => [...task.history.map(a2a.wordsOfMessage), a2a.textOf(task)]);
    },
    close: nothing,
  };
}

const ask = { model: 'parlance' };
const limit = { model: 'parlance', max_tokens: 1_000 };

/** The session named by the last answer. */
function remembered(): { session: string; of<Answer>(asked: WithResponse<Answer>): Promise<Answer> } {
  const place = {
    session: '',
    async of<Answer>(asked: WithResponse<Answer>): Promise<Answer> {
      const { data, response } = await asked.withResponse();
      place.session = response.headers.get('x-parlance-session') ?? '';
      return data;
    },
  };
  return place;
}

type WithResponse<Answer> = { withResponse(): Promise<{ data: Answer; response: Response }> };

async function openai({ server, token, session }: Place): Promise<DialectClient> {
  const client = openaiClient(server.http, { key: token, session });
  return {
    session,
    async say(content) {
      const messages = [{ role: 'user' as const, content }];
      const { choices } = await client.chat.completions.create({ ...ask, messages });
      return choices[0]?.message.content ?? '';
    },
    history: null,
    close: nothing,
  };
}

async function anthropic({ server, token, session }: Place): Promise<DialectClient> {
  const client = anthropicClient(server.http, { token, session });
  return {
    session,
    say: async (content) =>
      textIn(await client.messages.create({ ...limit, messages: [{ role: 'user', content }] })),
    history: null,
    close: nothing,
  };
}

/** The client sends the whole history each time, without a session. */
async function openaiHistory({ server, token }: Place): Promise<DialectClient> {
  const client = openaiClient(server.http, { key: token });
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  const place = remembered();
  return {
    get session() {
      return place.session;
    },
    async say(content) {
      messages.push({ role: 'user', content });
      const { choices } = await place.of(client.chat.completions.create({ ...ask, messages }));
      const message = choices[0]?.message;
      if (message) messages.push(message);
      return message?.content ?? '';
    },
    history: null,
    close: nothing,
  };
}

async function openaiConversation({ server, token, session }: Place): Promise<DialectClient> {
  const client = openaiClient(server.http, { key: token });
  return {
    session,
    say: async (input) =>
      (await client.responses.create({ ...ask, input, conversation: session })).output_text,
    async history() {
      const { data } = await client.conversations.items.list(session, { order: 'asc' });
      return data.map((item) =>
        item.type === 'message' ? item.content.map((part) => ('text' in part ? part.text : '')).join('') : '',
      );
    },
    close: nothing,
  };
}

async function openaiResponses({ server, token }: Place): Promise<DialectClient> {
  const client = openaiClient(server.http, { key: token });
  const place = remembered();
  let last: string | null = null;
  return {
    get session() {
      return place.session;
    },
    async say(input) {
      const response = await place.of(client.responses.create({ ...ask, input, previous_response_id: last }));
      last = response.id;
      return response.output_text;
    },
    history: null,
    close: nothing,
  };
}

async function anthropicHistory({ server, token }: Place): Promise<DialectClient> {
  const client = anthropicClient(server.http, { token });
  const messages: Anthropic.MessageParam[] = [];
  const place = remembered();
  return {
    get session() {
      return place.session;
    },
    async say(content) {
      messages.push({ role: 'user', content });
      const message = await place.of(client.messages.create({ ...limit, messages }));
      messages.push({ role: 'assistant', content: message.content });
      return textIn(message);
    },
    history: null,
    close: nothing,
  };
}

async function anthropicThread({ server, token }: Place): Promise<DialectClient> {
  const thread = anthropicClient(server.http, { token }).beta.messages.thread(limit);
  const place = remembered();
  return {
    get session() {
      return place.session;
    },
    say: async (content) => textIn(await place.of(thread.send({ role: 'user', content }))),
    history: null,
    close: nothing,
  };
}

export const DIALECT_CLIENTS: Readonly<Record<string, (place: Place) => Promise<DialectClient>>> = {
  a2a: a2aContext,
  acp,
  agui: aguiThread,
  aisdk: aisdkChat,
  anthropic,
  'anthropic history': anthropicHistory,
  'anthropic thread': anthropicThread,
  'mcp 2025': mcp('2025'),
  'mcp 2026': mcp('2026'),
  openai,
  'openai conversation': openaiConversation,
  'openai history': openaiHistory,
  'openai responses': openaiResponses,
};
