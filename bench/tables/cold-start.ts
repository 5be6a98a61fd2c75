/** From process start until ready. */
import { contestantOf } from '../contestants/index.ts';
import { timed } from '../measure/clock.ts';
import { median } from '../measure/percentile.ts';
import { residentBytes, treeOf } from '../measure/process-tree.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import type { Table } from './table.ts';

const SUBJECTS = ['floor', 'by hand', 'Codex app-server', 'opencode', 'Parlance, agentloop'];

export const coldStart: Table = {
  name: 'cold-start',
  title: 'Cold start with an empty home: from the start of the process until it is ready',
  unit: 'starts',
  columns: [
    { key: 'ms', title: 'median ms' },
    { key: 'slowestMs', title: 'slowest ms' },
    { key: 'megabytes', title: 'memory MB then' },
  ],
  jobs: (quick) =>
    quick ? [{ subject: 'Parlance, agentloop', size: 2 }] : SUBJECTS.map((subject) => ({ subject, size: 5 })),
  async measure({ subject, size }, progress) {
    const times: number[] = [];
    const memory: number[] = [];
    for (let start = 1; start <= size; start++) {
      progress(`start ${start} of ${size}`);
      using folder = temporaryFolder();
      const { ms, given } = await timed(() => contestantOf(subject).start('http://127.0.0.1:9', folder.path));
      times.push(ms);
      memory.push(residentBytes(treeOf(given.pid)) / 1e6);
      await given.stop();
    }
    return { ms: median(times), slowestMs: Math.max(...times), megabytes: median(memory) };
  },
};
