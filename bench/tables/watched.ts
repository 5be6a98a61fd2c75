/**
 * Subscriptions of many watchers: the address, the frames that carry tokens, and how to start another answer.
 */
import { inBench, installed, startServer } from '../contestants/contestant.ts';
import { readEvents } from '../contestants/event-source.ts';
import { openaiAt, type ParlanceServer, startParlance } from '../contestants/parlance.ts';
import { postJson } from '../contestants/post-json.ts';
import { connect } from '../contestants/socket-lane.ts';
import { tokenText } from '../measure/answer-check.ts';
import { nowMicros, sleep } from '../measure/clock.ts';
import { publishEvent } from './publish-event.ts';

type Take = (frame: string, arrivedAt: number) => void;

export type Watched = {
  readonly pid: number;
  watch(take: Take): Promise<unknown>;
  /** Resolves when the answer has been requested, or sent completely. */
  answer(): Promise<unknown>;
  stop(): Promise<void>;
};

export type Rate = { readonly tokens: number; readonly intervalMs: number };
type Start = (upstream: string, folder: string, rate: Rate) => Promise<Watched>;

const SESSION = '7a3e5c52-58f0-4d0e-9a55-3f3d2c9f1b10';

async function watchSocket(url: string, take: Take, first?: string): Promise<void> {
  const socket = await connect(url);
  const subscribed = Promise.withResolvers<void>();
  socket.onmessage = ({ data }) => {
    const frame = data as string;
    if (first !== undefined && frame.includes('subscription_succeeded')) subscribed.resolve();
    take(frame, nowMicros());
  };
  if (first === undefined) return;
  socket.send(first);
  await subscribed.promise;
}

const session =
  (watch: (server: ParlanceServer, take: Take) => Promise<unknown>): Start =>
  async (upstream, folder) => {
    const server = await startParlance(folder, openaiAt(upstream));
    // The session belongs to the user whose token the watchers use.
    const headers = { authorization: `Bearer ${await server.token()}` };
    const send = (body: object) => postJson(`${server.http}/v1/sessions/${SESSION}/commands`, body, headers);
    await send({ type: 'session.create' });
    return {
      pid: server.pid,
      watch: (take) => watch(server, take),
      answer: () => send({ type: 'input.submit', parts: [{ type: 'text', text: 'Tell me something.' }] }),
      stop: server.stop,
    };
  };

/** Frames that carry the text of tokens; a frame with the complete answer is not one. */
const only =
  (mark: string, take: Take): Take =>
  (frame, at) => {
    if (frame.includes(mark)) take(frame, at);
  };

/** Publishes frames at the rate of the upstream, each after the previous one was accepted. */
async function paced({ tokens, intervalMs }: Rate, publish: (token: string) => Promise<unknown>) {
  const began = performance.now();
  for (let number = 0; number < tokens; number++) {
    await publish(tokenText(number, nowMicros()));
    await sleep(Math.max(0, began + (number + 1) * intervalMs - performance.now()));
  }
}

/** As large as a frame of `agentloop`. */
const frameLike = (token: string) =>
  JSON.stringify({
    id: crypto.randomUUID(),
    type: 'response_item',
    payload: {
      id: SESSION,
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: token }],
    },
  });

export const WATCHED: Readonly<Record<string, Start>> = {
  'plain ws broadcast': async (_upstream, folder, rate) => {
    installed('ws');
    const command = [installed('node/bin/node'), inBench('contestants/ws-broadcast-server.mjs')];
    const { pid, first, stop } = await startServer(command, { folder, env: { NODE_ENV: 'production' } });
    const publish = async (token: string) => {
      const response = await fetch(`http://127.0.0.1:${first}/`, { method: 'POST', body: frameLike(token) });
      await response.arrayBuffer();
    };
    return {
      pid,
      watch: (take) => watchSocket(`ws://127.0.0.1:${first}/`, take),
      answer: () => paced(rate, publish),
      stop,
    };
  },

  'Parlance, pusher channel': async (_upstream, folder, rate) => {
    const server = await startParlance(folder, { PROVIDER: 'offline' });
    const channel = 'watched';
    const subscribe = JSON.stringify({ event: 'pusher:subscribe', data: { channel } });
    return {
      pid: server.pid,
      watch: (take) => watchSocket(`${server.ws}/app/app-key?protocol=7`, only('"token"', take), subscribe),
      answer: () =>
        paced(rate, (token) => publishEvent(server.http, { channel, name: 'token', data: frameLike(token) })),
      stop: server.stop,
    };
  },

  'Parlance, agentloop': session(async (server, take) =>
    watchSocket(
      `${server.ws}/agentloop?session=${SESSION}&token=${await server.token()}`,
      only('"response_item"', take),
    ),
  ),
  'Parlance, conversations': session(async (server, take) =>
    watchSocket(
      `${server.ws}/conversations?session=${SESSION}&token=${await server.token()}`,
      only('"message_chunk"', take),
    ),
  ),
  'Parlance, native': session(async (server, take) =>
    readEvents(
      `${server.http}/v1/sessions/${SESSION}/events`,
      { authorization: `Bearer ${await server.token()}` },
      only('"text.delta"', take),
    ),
  ),
};
