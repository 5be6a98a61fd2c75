import { type Contestant, inBench, startServer } from './contestant.ts';
import { connect, ENDED, type Read, socketLane } from './socket-lane.ts';

/** The floor and "by hand" use the same protocol. */
export const prompt = () => ({ prompt: 'Tell me something.' });
export const read: Read = (frame) => {
  if (frame.type === 'delta') return frame.text as string;
  return frame.type === 'done' ? ENDED : null;
};

/** By default Bun makes at most 256 concurrent requests and queues the rest. */
export const MANY_REQUESTS = { BUN_CONFIG_MAX_HTTP_REQUESTS: '65336' };

/** `command`: a program of the benchmark and its arguments before the address of the model API. */
export const relayContestant = (
  name: string,
  description: string,
  [program = '', ...args]: readonly string[],
): Contestant => ({
  name,
  description: `Bun ${Bun.version}: ${description}, one WebSocket frame a token out, nothing else`,
  async start(upstream, folder) {
    const command = [process.execPath, inBench(program), ...args, upstream];
    const { pid, first, stop } = await startServer(command, { folder, env: MANY_REQUESTS });
    return {
      pid,
      lane: async () => socketLane(await connect(`ws://127.0.0.1:${first}`), prompt, read),
      stop,
    };
  },
});

export const floor: Contestant = relayContestant('floor', 'SSE over fetch', ['contestants/floor-server.ts']);
export const socketFloor: Contestant = relayContestant('socket floor', 'SSE over a plain socket', [
  'contestants/socket-floor-server.ts',
]);
