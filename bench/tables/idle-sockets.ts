/** Resident memory of an idle socket. */
import { byHand } from '../contestants/by-hand.ts';
import { floor } from '../contestants/floor.ts';
import { openaiAt, startParlance } from '../contestants/parlance.ts';
import { sleep } from '../measure/clock.ts';
import { residentBytes, treeOf } from '../measure/process-tree.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { openSockets } from './open-sockets.ts';
import { across, type Table } from './table.ts';

/** Until memory used temporarily by handshakes has been released. */
const SETTLE_MS = 500;
const NOWHERE = 'http://127.0.0.1:9';
type Connected = { readonly pid: number; open(count: number): Promise<unknown>; stop(): Promise<void> };

const parlanceAt =
  (path: (token: string) => string) =>
  async (folder: string): Promise<Connected> => {
    const { pid, ws, token, stop } = await startParlance(folder, openaiAt(NOWHERE));
    const url = ws + path(await token());
    return { pid, open: (count) => openSockets(url, count), stop };
  };

const contestantLanes =
  (contestant: typeof floor) =>
  async (folder: string): Promise<Connected> => {
    const { pid, lane, stop } = await contestant.start(NOWHERE, folder);
    const open = async (count: number) => {
      for (let done = 0; done < count; done += 100)
        await Promise.all(Array.from({ length: Math.min(100, count - done) }, lane));
    };
    return { pid, open, stop };
  };

const SUBJECTS: Readonly<Record<string, (folder: string) => Promise<Connected>>> = {
  floor: contestantLanes(floor),
  'by hand': contestantLanes(byHand),
  'Parlance, agentloop': parlanceAt(() => '/agentloop'),
  'Parlance, conversations': parlanceAt((token) => `/conversations?token=${token}`),
  'Parlance, extension': parlanceAt(() => '/extension'),
  'Parlance, broadcast': parlanceAt(() => '/broadcast'),
  'Parlance, pusher': parlanceAt(() => '/app/app-key?protocol=7'),
};

export const idleSockets: Table = {
  name: 'idle-sockets',
  title: 'Idle sockets: resident memory of the server for each',
  unit: 'sockets',
  columns: [
    { key: 'kilobytes', title: 'KB/socket', digits: 2 },
    { key: 'megabytes', title: 'memory MB' },
    { key: 'emptyMegabytes', title: 'MB without any' },
  ],
  jobs: (quick) => across(quick ? ['Parlance, agentloop'] : Object.keys(SUBJECTS), [quick ? 1_000 : 5_000]),
  async measure({ subject, size }, progress) {
    const start = SUBJECTS[subject];
    if (!start) throw new Error(`there is no ${subject}`);
    using folder = temporaryFolder();
    const { pid, open, stop } = await start(folder.path);
    try {
      progress('warming up');
      await open(100);
      await sleep(SETTLE_MS);
      const before = residentBytes(treeOf(pid));
      progress(`connecting ${size} sockets`);
      await open(size);
      await sleep(SETTLE_MS);
      const after = residentBytes(treeOf(pid));
      return {
        kilobytes: (after - before) / size / 1_000,
        megabytes: after / 1e6,
        emptyMegabytes: before / 1e6,
      };
    } finally {
      await stop();
    }
  },
};
