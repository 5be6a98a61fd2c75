/** A server with many sessions: operations that do not scan all of them must not cost more. */
import { join } from 'node:path';
import { type ParlanceServer, startParlance } from '../contestants/parlance.ts';
import { postJson } from '../contestants/post-json.ts';
import { timed } from '../measure/clock.ts';
import { median } from '../measure/percentile.ts';
import { residentBytes, treeOf } from '../measure/process-tree.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { APPROVALS, NEEDLE, writeSessions } from './many-sessions-data.ts';
import type { Table } from './table.ts';

const OFFLINE = { PROVIDER: 'offline', PARLANCE_OFFLINE_DELAY: '0', LOG_LEVEL: 'silent' };
const PAGE = 50;
const WARM_UPS = 3;

type Sessions = { sessions: { title: string }[] };
type Approvals = { approvals: { id: string }[] };

export const manySessions: Table = {
  name: 'many-sessions',
  title: `A server with many sessions, ${APPROVALS} of which wait for an approval: the start, a page of ${PAGE} sessions, a title that one session has, the approvals, an answer`,
  unit: 'sessions',
  columns: [
    { key: 'startMs', title: 'start ms' },
    { key: 'listMs', title: 'list ms', digits: 2 },
    { key: 'searchMs', title: 'search ms', digits: 2 },
    { key: 'approvalsMs', title: 'approvals ms', digits: 2 },
    { key: 'answerMs', title: 'answer ms', digits: 2 },
    { key: 'megabytes', title: 'memory MB then' },
  ],
  jobs: (quick) =>
    (quick ? [100, 1_000] : [1_000, 10_000, 100_000]).map((size) => ({ subject: 'Parlance', size })),
  async measure({ size, quick }, progress) {
    using folder = temporaryFolder();
    progress(`writing ${size} sessions`);
    await writeSessions(join(folder.path, 'data'), size);
    const starts = quick ? 2 : 5;
    const startTimes: number[] = [];
    for (let start = 1; start < starts; start++) {
      progress(`start ${start} of ${starts}`);
      const { ms, given } = await timed(() => startParlance(folder.path, OFFLINE));
      startTimes.push(ms);
      await given.stop();
    }
    const { ms, given: server } = await timed(() => startParlance(folder.path, OFFLINE));
    startTimes.push(ms);
    const figures = await measureRequests(server, quick ? 5 : 20);
    const megabytes = residentBytes(treeOf(server.pid)) / 1e6;
    await server.stop();
    return { startMs: median(startTimes), ...figures, megabytes };
  },
};

async function measureRequests({ http }: ParlanceServer, rounds: number) {
  const v1 = `${http}/v1`;
  const list = () => getJson<Sessions>(`${v1}/sessions?limit=${PAGE}`);
  const search = () => getJson<Sessions>(`${v1}/sessions?q=${encodeURIComponent(NEEDLE)}`);
  const approvals = () => getJson<Approvals>(`${v1}/approvals?limit=${APPROVALS}`);
  check((await list()).sessions.length === PAGE, 'the list is not a page');
  check((await search()).sessions.length === 1, 'the search does not find its one session');
  const asked = (await approvals()).approvals.map(({ id }) => id);
  check(asked.length === APPROVALS, 'not all approvals are listed');

  const listMs = await medianOf(rounds, list);
  const searchMs = await medianOf(rounds, search);
  const approvalsMs = await medianOf(rounds, approvals);
  // Each is answered once; its turn continues with the offline model in the meantime.
  const answerMs = await medianOf(rounds, () =>
    postJson(`${v1}/approvals/${asked.pop()}`, { answer: 'deny' }),
  );
  return { listMs, searchMs, approvalsMs, answerMs };
}

async function medianOf(rounds: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = -WARM_UPS; round < rounds; round++) {
    const { ms } = await timed(work);
    if (round >= 0) times.push(ms);
  }
  return median(times);
}

async function getJson<Body>(url: string): Promise<Body> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return (await response.json()) as Body;
}

function check(holds: boolean, message: string): void {
  if (!holds) throw new Error(message);
}
