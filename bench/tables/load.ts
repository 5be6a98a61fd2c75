/** One Parlance process under load: concurrent turns next to idle sockets. */
import { DIALECTS, openaiAt, STREAMING, startParlance } from '../contestants/parlance.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { startUpstream } from '../measure/upstream-process.ts';
import { measureRounds } from './measure-streams.ts';
import { openSockets } from './open-sockets.ts';
import type { Table } from './table.ts';

/**
 * 25 tokens per second each, like large models: at 50, the three processes of the measurement need more than
 * two cores.
 */
const LOAD = { streams: 500, tokens: 200, intervalMs: 40, rounds: 2, maxRounds: 4, warmUps: 1 };

export const load: Table = {
  name: 'load',
  title: `Load on one process: ${LOAD.streams} turns stream at once, a token each ${LOAD.intervalMs} ms, while further sockets are connected`,
  unit: 'sockets',
  columns: [
    { key: 'turns', title: 'turns' },
    { key: 'p50', title: 'delay p50 ms', digits: 2 },
    { key: 'p99', title: 'delay p99 ms', digits: 2 },
    { key: 'missing', title: 'lost' },
    { key: 'misplaced', title: 'out of order' },
    { key: 'cpuPerToken', title: 'CPU µs/token', digits: 1 },
    { key: 'megabytes', title: 'memory MB' },
    { key: 'stretch', title: 'time taken ×', digits: 2 },
    { key: 'stolen', title: 'host took %', digits: 1 },
  ],
  jobs: (quick) => (quick ? [] : STREAMING.map((subject) => ({ subject, size: 5_000 }))),
  async measure(job, progress) {
    const dialect = STREAMING.find((name) => name === job.subject) ?? 'agentloop';
    using folder = temporaryFolder();
    const upstream = await startUpstream(LOAD.tokens, LOAD.intervalMs);
    const server = await startParlance(folder.path, openaiAt(upstream.url));
    try {
      progress(`connecting ${job.size} sockets`);
      const idle = await openSockets(`${server.ws}/agentloop`, job.size);
      const running = { pid: server.pid, lane: () => DIALECTS[dialect](server), stop: server.stop };
      const figures = await measureRounds(running, LOAD, progress);
      const connected = idle.filter(({ readyState }) => readyState === WebSocket.OPEN).length;
      if (connected < job.size) throw new Error(`${job.size - connected} idle sockets were closed`);
      return { turns: LOAD.streams, ...figures };
    } finally {
      await server.stop();
      await upstream.stop();
    }
  },
};
