/** Compaction on demand: reading the context from the log, summarising it with the offline model, keeping the rest. */
import { join } from 'node:path';
import { startParlance } from '../contestants/parlance.ts';
import { postJson } from '../contestants/post-json.ts';
import { timed } from '../measure/clock.ts';
import { median } from '../measure/percentile.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { writeSession } from './long-session.ts';
import type { Table } from './table.ts';

type Compacted = { facts: { type: string; oldTokens?: number; newTokens?: number }[] };

export const compaction: Table = {
  name: 'compaction',
  title: 'Compact a context with the offline model',
  unit: 'items',
  columns: [
    { key: 'ms', title: 'ms', digits: 1 },
    { key: 'oldTokens', title: 'tokens before' },
    { key: 'newTokens', title: 'tokens after' },
  ],
  jobs: (quick) => (quick ? [100] : [10, 100, 1_000, 5_000]).map((size) => ({ subject: 'Parlance', size })),
  async measure({ size, quick }, progress) {
    using folder = temporaryFolder();
    const rounds = quick ? 2 : 5;
    progress('writing the sessions');
    // Two items a turn, which is five events; each round needs a context that was not compacted yet.
    for (let round = 0; round <= rounds; round++)
      await writeSession(join(folder.path, 'data'), `round-${round}`, {
        events: (size / 2) * 5 + 1,
        compactions: false,
      });
    const server = await startParlance(folder.path, { PROVIDER: 'offline', PARLANCE_OFFLINE_DELAY: '0' });
    try {
      const times: number[] = [];
      let tokens = { oldTokens: 0, newTokens: 0 };
      for (let round = 0; round <= rounds; round++) {
        progress(`round ${round} of ${rounds}`);
        const url = `${server.http}/v1/sessions/round-${round}`;
        await (await fetch(url)).arrayBuffer();
        const { ms, given } = await timed(() => postJson(`${url}/commands`, { type: 'context.compact' }));
        const event = (given as Compacted).facts.find(({ type }) => type === 'context.compacted');
        if (!event) throw new Error('nothing was compacted');
        tokens = { oldTokens: event.oldTokens ?? 0, newTokens: event.newTokens ?? 0 };
        if (round > 0) times.push(ms); // the first warms up
      }
      return { ms: median(times), ...tokens };
    } finally {
      await server.stop();
    }
  },
};
