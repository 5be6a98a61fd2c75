import { type Contestant, inBench, installed, startServer, versionOf } from './contestant.ts';
import { prompt, read } from './floor.ts';
import { connect, socketLane } from './socket-lane.ts';

export const byHand: Contestant = {
  name: 'by hand',
  description: `AI SDK ${await versionOf('ai')} streamText and ws ${await versionOf('ws')} on Node ${await versionOf('node')}`,
  async start(upstream, folder) {
    for (const needed of ['ai', 'ws', '@ai-sdk/openai-compatible']) installed(needed);
    const command = [installed('node/bin/node'), inBench('contestants/by-hand-server.mjs'), upstream];
    const { pid, first, stop } = await startServer(command, { folder, env: { NODE_ENV: 'production' } });
    return {
      pid,
      lane: async () => socketLane(await connect(`ws://127.0.0.1:${first}`), prompt, read),
      stop,
    };
  },
};
