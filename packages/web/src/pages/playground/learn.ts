/** Values from server frames that fill examples. */
import type { Known, Spoken } from './examples/index.ts';

export type Learned = Omit<Known, 'session' | 'now' | 'fresh' | 'signature' | 'userData'>;

type Frame = Record<string, unknown> & { readonly payload?: unknown; readonly data?: unknown };

const isObject = (value: unknown): value is Frame =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const word = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Returns the same object if the frame adds nothing. */
export function learn(known: Learned, dialect: Spoken, text: string): Learned {
  const frame = parsed(text);
  const found = isObject(frame) ? LESSONS[dialect](frame) : {};
  const news = Object.entries(found).filter(([, value]) => value !== undefined);
  return news.length === 0 ? known : { ...known, ...Object.fromEntries(news) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // not JSON
  }
}

const inside = (value: unknown): Frame => (isObject(value) ? value : {});

const LESSONS: Readonly<Record<Spoken, (frame: Frame) => Learned>> = {
  agentloop: ({ type, payload }) =>
    type === 'agent_finished' ? { response: word(inside(payload).responseId) } : {},
  extension: ({ type, executionId }) =>
    type === 'tool_execution_request' ? { execution: word(executionId) } : {},
  broadcast: () => ({}),
  conversations: (frame) => {
    if (frame.type === 'tool_approval_required')
      return { approval: word(frame.requestId) ?? word(inside(frame.payload).requestId) };
    return frame.type === 'conversation_started' ? { conversation: word(frame.conversationId) } : {};
  },
  copilot: ({ body }) => ({ task: word(inside(inside(body).data).taskId) }),
  pusher: ({ event, data }) => {
    if (event !== 'pusher:connection_established') return {};
    const established = inside(typeof data === 'string' ? parsed(data) : data);
    return { socket: word(established.socket_id) };
  },
  native: ({ type, approval, call }) => {
    if (type === 'approval.requested') return { approval: word(approval), call: word(call) };
    return type === 'call.requested' ? { call: word(call) } : {};
  },
};
