/** Opening a session: the cost must depend on the page, not on the history. */
import { join } from 'node:path';
import { startParlance } from '../contestants/parlance.ts';
import { postJson } from '../contestants/post-json.ts';
import { sleep, timed } from '../measure/clock.ts';
import { median } from '../measure/percentile.ts';
import { temporaryFolder } from '../measure/temporary-folder.ts';
import { writeSession } from './long-session.ts';
import type { Table } from './table.ts';

const PAGE = 100;
const OFFLINE = { PROVIDER: 'offline', PARLANCE_OFFLINE_DELAY: '0' };

type Opening = 'session' | 'lastPage' | 'messages' | 'attach';

export const history: Table = {
  name: 'history',
  title: `Open a session that is not in memory: the session, its last ${PAGE} events, its last ${PAGE} messages, its live stream`,
  unit: 'facts',
  columns: [
    { key: 'sessionMs', title: 'session ms', digits: 2 },
    { key: 'lastPageMs', title: 'events ms', digits: 2 },
    { key: 'lastPageBytes', title: 'bytes' },
    { key: 'messagesMs', title: 'messages ms', digits: 2 },
    { key: 'messagesBytes', title: 'bytes' },
    { key: 'attachMs', title: 'stream ms', digits: 2 },
    { key: 'attachBytes', title: 'bytes' },
  ],
  jobs: (quick) =>
    (quick ? [10, 10_000] : [10, 1_000, 100_000]).map((size) => ({ subject: 'Parlance', size })),
  async measure({ size, quick }, progress) {
    using folder = temporaryFolder();
    progress(`writing ${size} events`);
    const data = join(folder.path, 'data');
    await writeSession(data, 'warm', { events: 10, compactions: true });
    await writeSession(data, 'long', { events: size, compactions: true });
    progress('one more turn, so that it rests as a session of the server does');
    const first = await startParlance(folder.path, OFFLINE);
    const head = { warm: await oneTurn(first.http, 'warm'), long: await oneTurn(first.http, 'long') };
    await first.stop();

    const all = new Map<string, number[]>();
    const keep = (key: string, value: number) => all.set(key, [...(all.get(key) ?? []), value]);
    const starts = quick ? 1 : 5;
    for (let start = 1; start <= starts; start++) {
      progress(`start ${start} of ${starts}`);
      const server = await startParlance(folder.path, OFFLINE);
      for (let round = 0; round < 5; round++)
        for (const open of OPENINGS) await open.read(`${server.http}/v1`, 'warm', head.warm);
      for (const { name, read } of OPENINGS) {
        const { ms, given: bytes } = await timed(() => read(`${server.http}/v1`, 'long', head.long));
        keep(`${name}Ms`, ms);
        keep(`${name}Bytes`, bytes);
      }
      await server.stop();
    }
    return Object.fromEntries([...all].map(([key, values]) => [key, median(values)]));
  },
};

/**
 * In this order: for the first, the session is only on disk. Each resolves with the number of received bytes.
 */
const OPENINGS: readonly {
  name: Opening;
  read: (v1: string, id: string, head: number) => Promise<number>;
}[] = [
  { name: 'session', read: (v1, id) => bytesOf(`${v1}/sessions/${id}`) },
  {
    name: 'lastPage',
    read: (v1, id, head) =>
      bytesOf(`${v1}/sessions/${id}/events?limit=${PAGE}&after=${Math.max(0, head - PAGE)}`),
  },
  { name: 'messages', read: (v1, id) => bytesOf(`${v1}/conversations/${id}/messages?limit=${PAGE}`) },
  { name: 'attach', read: (v1, id, head) => attach(`${v1}/sessions/${id}/events?after=${head}`) },
];

async function bytesOf(url: string): Promise<number> {
  const response = await fetch(url);
  const { byteLength } = await response.arrayBuffer();
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return byteLength;
}

/** Until the snapshot has arrived. */
async function attach(url: string): Promise<number> {
  const stop = new AbortController();
  const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: stop.signal });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (/event: snapshot\ndata: .*\n\n/.test(text)) break;
  }
  stop.abort();
  return text.length;
}

/** Resolves with the number of the last event when it has ended. */
async function oneTurn(http: string, id: string): Promise<number> {
  const url = `${http}/v1/sessions/${id}`;
  await postJson(`${url}/commands`, { type: 'input.submit', parts: [{ type: 'text', text: 'echo hello' }] });
  for (;;) {
    const { now } = (await (await fetch(url)).json()) as { now: { turn: unknown; seq: number } };
    if (now.turn === null) return now.seq;
    await sleep(5);
  }
}
