/** One driver per dialect with sockets: the same few operations in the frames of each dialect. */
import type { AnyFrame, TestClient } from '../packages/server/src/testing/client.ts';

export type Driver = {
  readonly client: TestClient;
  say(text: string): void;
  /** resolves with the answer when a turn of any client has ended */
  answer(): Promise<string>;
  /** resolves when the client has received an approval request */
  asked(): Promise<AnyFrame>;
  approve(): void;
  deny(): void;
  /** matches the frame for a late answer; null if the dialect has none, because the text then is a message */
  readonly late: ((frame: AnyFrame) => boolean) | null;
};

type Server = { connect(path: string): Promise<TestClient> };
type Open = (server: Server, session: string, token: string) => Promise<Driver>;

/** A message with an approval request: the turn continues after it. */
export const isQuestion = ({ message, content }: AnyFrame): boolean =>
  String(message ?? content).endsWith(' Allow it? Answer yes or no.');

const payload = (frame: AnyFrame) => (frame.payload ?? {}) as Record<string, unknown>;
const errorCode = (frame: AnyFrame) => (frame.type === 'error' ? payload(frame).code : undefined);

const broadcast: Open = async (server, session, token) => {
  const client = await server.connect(`/broadcast?token=${token}&session=${session}`);
  const say = (message: string) => client.send({ type: 'chat', message, session_id: session });
  const own = (type: string) => (frame: AnyFrame) => frame.type === type && frame.session_id === session;
  return {
    client,
    say,
    answer: async () =>
      String((await client.next((frame) => own('agent_message')(frame) && !isQuestion(frame))).message),
    asked: () => client.next((frame) => String(frame.reasoning).startsWith('Waiting for approval: ')),
    approve: () => say('yes'),
    deny: () => say('no'),
    late: null,
  };
};

const agentloop: Open = async (server, session, token) => {
  const client = await server.connect(`/agentloop?token=${token}&session=${session}`);
  const review = (answer: string) =>
    client.send({ id: crypto.randomUUID(), type: 'approval_response', payload: { review: answer } });
  /** The texts of the blocks, each without the line break that ends it on the wire. */
  const text = (frames: readonly AnyFrame[]) => {
    const blocks = new Map<unknown, string>();
    for (const { id, role, content } of frames.map(payload)) {
      if (role !== 'assistant') continue;
      const more = (content as { text: string }[]).map((part) => part.text).join('');
      blocks.set(id, (blocks.get(id) ?? '') + more);
    }
    return [...blocks.values()].map((block) => block.replace(/\n$/, '')).join('');
  };
  return {
    client,
    say(words) {
      const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] }];
      client.send({ id: crypto.randomUUID(), type: 'user_input', payload: { input } });
    },
    answer: async () => text(await client.until('agent_finished')),
    asked: () => client.next('approval_request'),
    approve: () => review('yes'),
    deny: () => review('no-continue'),
    late: (frame) => frame.type === 'error' && payload(frame).message === 'No pending approval request',
  };
};

const conversations: Open = async (server, session, token) => {
  const client = await server.connect(`/ws?token=${token}&session=${session}`);
  let requestId: unknown;
  const approveTool = (approved: boolean) =>
    client.send({ type: 'approve_tool', conversationId: session, requestId, payload: { approved } });
  return {
    client,
    say: (content) => client.send({ type: 'send_message', conversationId: session, payload: { content } }),
    // A socket may inherit streams of other conversations.
    answer: async () => {
      const own = ({ type, conversationId }: AnyFrame) =>
        type === 'message_complete' && conversationId === session;
      return String(payload(await client.next(own)).content);
    },
    async asked() {
      const frame = await client.next('tool_approval_required');
      requestId = payload(frame).requestId;
      return frame;
    },
    approve: () => approveTool(true),
    deny: () => approveTool(false),
    late: (frame) => errorCode(frame) === 'tool_execute_failed',
  };
};

const extension: Open = async (server, session, token) => {
  const client = await server.connect(`/?session=${session}`);
  const message = (type: string, more: object) =>
    client.send({ id: `msg_${Date.now()}_abcdef123`, type, timestamp: Date.now(), ...more });
  message('client_registration', { clientType: 'browser_extension', capabilities: [], sessionToken: token });
  await client.next('registration_confirmed');
  const say = (content: string) => message('chat_message', { content, sessionId: session });
  return {
    client,
    say,
    answer: async () =>
      String((await client.next((frame) => frame.type === 'agent_response' && !isQuestion(frame))).content),
    asked: () => client.next((frame) => String(frame.message).startsWith('Waiting for approval: ')),
    approve: () => say('yes'),
    deny: () => say('no'),
    late: null,
  };
};

export const DRIVERS: Readonly<Record<string, Open>> = { agentloop, broadcast, conversations, extension };
