/**
 * Parlance as shipped: store, authentication, limits and metrics enabled, default settings. Once per
 * streaming dialect.
 */
import { join } from 'node:path';
import manifest from '../../packages/cli/package.json';
import { type Contestant, inRepository, type Lane, startServer } from './contestant.ts';
import { eachEvent, readEvents } from './event-source.ts';
import { postJson } from './post-json.ts';
import { connect, ENDED, socketLane } from './socket-lane.ts';

const USER = { username: 'bench', password: 'bench-password' };
const WORDS = 'Tell me something.';

export type ParlanceServer = {
  readonly pid: number;
  readonly http: string;
  readonly ws: string;
  /** a token of a user with the role developer */
  token(): Promise<string>;
  stop(): Promise<void>;
};

/**
 * Started like `npm start`, so that the shipped configuration is measured. Data and tools stay in `folder`. `checkout`
 * is the folder of the version to start.
 */
export async function startParlance(
  folder: string,
  settings: Record<string, string>,
  checkout = inRepository('.'),
): Promise<ParlanceServer> {
  const workspace = (await Bun.file(join(checkout, 'package.json')).json()) as { scripts: { start: string } };
  const env = {
    PATH: `${join(checkout, 'node_modules/.bin')}:${process.env.PATH}`,
    PORT: '0',
    PARLANCE_DATA: join(folder, 'data'),
    WORKING_DIRECTORY: folder,
    AUTH_USERS: `${USER.username}:${USER.password}:developer`,
    ...settings,
  };
  const { pid, first, stop } = await startServer(['sh', '-c', workspace.scripts.start], {
    folder,
    cwd: checkout,
    env,
    ready: /^parlance listening/,
  });
  const http = first.slice(first.indexOf('http://'));
  const login = async () => {
    const body = (await postJson(`${http}/v1/auth/login`, USER)) as { access_token: string };
    return body.access_token;
  };
  let token: Promise<string> | null = null;
  return { pid, http, ws: http.replace('http', 'ws'), token: () => (token ??= login()), stop };
}

export const openaiAt = (upstream: string): Record<string, string> => ({
  OPENAI_API_KEY: 'bench',
  OPENAI_BASE_URL: `${upstream}/v1`,
  OPENAI_API: 'chat',
  MODEL: 'bench',
});

type Open = (server: ParlanceServer) => Promise<Lane>;

const agentloopInput = (text: string) => ({
  id: crypto.randomUUID(),
  type: 'user_input',
  payload: { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }] },
});

type AgentloopPayload = { type?: string; role?: string; content?: { text: string }[]; message?: string };

/** The text of a frame that carries a piece of the answer. */
function agentloopText(frame: Record<string, unknown>): string | typeof ENDED | null {
  const payload = frame.payload as AgentloopPayload;
  switch (frame.type) {
    case 'response_item':
      return payload.type === 'message' && payload.role === 'assistant'
        ? (payload.content ?? []).map(({ text }) => text).join('')
        : null;
    case 'agent_finished':
      return ENDED;
    case 'error':
      throw new Error(`the server answered ${JSON.stringify(payload)}`);
    default:
      return null;
  }
}

const agentloop: Open = async ({ ws }) =>
  socketLane(await connect(`${ws}/agentloop`), () => agentloopInput(WORDS), agentloopText);

const conversations: Open = async (server) => {
  const socket = await connect(`${server.ws}/conversations?token=${await server.token()}`);
  const conversationId = `temp-${crypto.randomUUID()}`;
  const prompt = () => ({ type: 'send_message', conversationId, payload: { content: WORDS } });
  return socketLane(socket, prompt, (frame) => {
    switch (frame.type) {
      case 'message_chunk':
        return (frame.payload as { chunk: string }).chunk;
      case 'workflow_step_complete':
        return ENDED;
      case 'error':
        throw new Error(`the server answered ${JSON.stringify(frame)}`);
      default:
        return null;
    }
  });
};

/** Posts a command and follows the session as server-sent events. */
const native: Open = ({ http }) => nativeLane(http);

/** `readAt`: another node, from which the events are read. */
export async function nativeLane(http: string, readAt = http, words = WORDS): Promise<Lane> {
  const path = `/v1/sessions/${crypto.randomUUID()}`;
  const session = http + path;
  await postJson(`${session}/commands`, { type: 'session.create' });
  let take: (data: string, arrivedAt: number) => void = () => undefined;
  const events = await readEvents(`${readAt}${path}/events`, {}, (data, at) => take(data, at));
  return {
    async ask(onText) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      take = (data, arrivedAt) => {
        const event = JSON.parse(data) as { type?: string; text?: string };
        if (event.type === 'text.delta') onText(event.text ?? '', arrivedAt);
        else if (event.type === 'turn.ended') resolve();
        else if (event.type === 'turn.failed') reject(new Error(data));
      };
      await postJson(`${session}/commands`, { type: 'input.submit', parts: [{ type: 'text', text: words }] });
      await promise;
    },
    close: () => events.close(),
  };
}

/** One request per answer, like clients of the OpenAI API. */
const openai: Open = async ({ http }) => {
  const session = crypto.randomUUID();
  const body = JSON.stringify({
    model: 'parlance',
    stream: true,
    messages: [{ role: 'user', content: WORDS }],
  });
  return {
    async ask(onText) {
      const response = await fetch(`${http}/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-parlance-session': session },
        body,
      });
      if (!response.ok || !response.body) throw new Error(`the server answered ${response.status}`);
      await eachEvent(response.body, (data, arrivedAt) => {
        if (data.trim() === '[DONE]') return;
        const { choices, error } = JSON.parse(data) as {
          choices?: { delta: { content?: string } }[];
          error?: object;
        };
        if (error) throw new Error(data);
        const text = choices?.[0]?.delta.content;
        if (text) onText(text, arrivedAt);
      });
    },
    close: () => undefined,
  };
};

export const DIALECTS = { agentloop, conversations, native } satisfies Record<string, Open>;
export type StreamingDialect = keyof typeof DIALECTS;

/** `extension` and `broadcast` send complete answers, and `copilot` answers requests: these three do not stream. */
export const STREAMING = Object.keys(DIALECTS) as StreamingDialect[];

/** `settings`: environment variables of the server, in addition to those of the model API. */
export const parlanceIn = (checkout: string, settings: Record<string, string> = {}): readonly Contestant[] =>
  Object.entries<Open>({ ...DIALECTS, openai }).map(([dialect, open]) => ({
    name: `Parlance, ${dialect}`,
    description: `Parlance ${manifest.version} on Bun ${Bun.version}, as shipped, ${dialect}`,
    async start(upstream, folder) {
      const server = await startParlance(folder, { ...openaiAt(upstream), ...settings }, checkout);
      return { pid: server.pid, lane: () => open(server), stop: server.stop };
    },
  }));

export const PARLANCE_VERSION: string = manifest.version;
