/**
 * Watches what a command with all its processes uses, and has it stopped beyond a limit. Works for root as well, for whom
 * the kernel has no limit of processes, and needs no cgroup of its own. Linux only.
 *
 * Between two looks a command can exceed a limit. If the memory of the machine ends then, the kernel kills the command
 * first (`oom_score_adj`), not the server.
 */
import { existsSync, readdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { descendantsOf, readProcess } from './kill-stragglers.ts';

/** In bytes and numbers, per command. */
export type CommandLimits = {
  readonly memory: number;
  /** threads included */
  readonly processes: number;
  readonly disk: number;
};

const PAUSE_MS = 100;
/** A look at many processes takes longer: the pauses do so as well. */
const PAUSE_FACTOR = 20;
/** What a command can take of the space that was free when it started. */
const SHARE_OF_FREE = 0.9;
const LISTS_CHILDREN = existsSync('/proc/thread-self/children');

/** `stop` is called at most once, with the end of a sentence. Returns the function that ends the watch. */
export function watchLimits(
  pid: number,
  { limits, folder }: { readonly limits: CommandLimits; readonly folder: string },
  stop: (reason: string) => void,
): () => void {
  if (process.platform !== 'linux') return () => undefined;
  const before = statfs(folder).catch(() => null);
  let isOver = false;
  const look = async () => {
    const started = performance.now();
    const reason =
      usage(pid, limits) ?? diskUsage(await before, await statfs(folder).catch(() => null), limits);
    if (isOver) return;
    if (reason !== null) stop(reason);
    else timer = setTimeout(look, Math.max(PAUSE_MS, PAUSE_FACTOR * (performance.now() - started)));
  };
  let timer = setTimeout(look, PAUSE_MS);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

function usage(pid: number, { memory, processes }: CommandLimits): string | null {
  const all = LISTS_CHILDREN ? [pid] : [pid, ...descendantsOf(pid)];
  let [threads, bytes] = [0, 0];
  for (let at = 0; at < all.length; at++) {
    const id = all[at] ?? 0;
    const status = readProcess(id, 'status');
    const own = Math.max(1, number(status, /^Threads:\s+(\d+)/m));
    threads += own;
    if (threads > processes) return `it had more than ${processes} processes and threads`;
    bytes += 1024 * (number(status, /^RssAnon:\s+(\d+)/m) + number(status, /^RssShmem:\s+(\d+)/m));
    if (LISTS_CHILDREN) all.push(...childrenOf(id, own));
  }
  // Memory that processes share is counted once for each: the exact sum takes longer.
  if (bytes <= memory) return null;
  const exact = all.reduce(
    (sum, id) => sum + 1024 * number(readProcess(id, 'smaps_rollup'), /^Pss:\s+(\d+)/m),
    0,
  );
  return exact > memory ? `it used more than ${inWords(memory)} of memory` : null;
}

function childrenOf(id: number, threads: number): number[] {
  const tasks = threads === 1 ? [String(id)] : names(`/proc/${id}/task`);
  return tasks.flatMap((task) => (readProcess(id, `task/${task}/children`).match(/\d+/g) ?? []).map(Number));
}

type Space = { readonly bavail: number; readonly bsize: number; readonly ffree: number };

function diskUsage(before: Space | null, now: Space | null, { disk }: CommandLimits): string | null {
  if (!before || !now) return null;
  const free = before.bavail * before.bsize;
  const allowed = Math.min(disk, free * SHARE_OF_FREE);
  if (free - now.bavail * now.bsize > allowed)
    return `${inWords(allowed)} of disk space were used up while it ran`;
  const files = before.ffree - now.ffree;
  return files > before.ffree * SHARE_OF_FREE ? 'too many files were created while it ran' : null;
}

const number = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);

function names(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

const inWords = (bytes: number): string => `${Math.round(bytes / 1_048_576).toLocaleString('en-US')} MiB`;
