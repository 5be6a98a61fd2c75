/** CPU time and memory of a process and its descendants, from /proc. Linux only. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** USER_HZ, which is 100 wherever Linux runs. */
const MICROS_PER_TICK = 1e6 / 100;

type Stat = {
  readonly pid: number;
  readonly parent: number;
  /** CPU time of its own, and of waited-for children that have exited, in ticks */
  readonly own: number;
  readonly ended: number;
};

/** Null if the process has exited. */
function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function statOf(pid: number): Stat | null {
  const text = read(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name is in parentheses and may contain anything; the fields after it are numbered from 3.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return { pid, parent: field(4), own: field(14) + field(15), ended: field(16) + field(17) };
}

/** The scheduler's count in microseconds: finer than ticks, but without exited threads. */
function scheduledMicros(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  let nanoseconds = 0;
  for (const task of existsSync(tasks) ? readdirSync(tasks) : [])
    nanoseconds += Number(read(`${tasks}/${task}/schedstat`)?.split(' ', 1)[0] ?? 0);
  return nanoseconds / 1_000;
}

/** The process and all its living descendants. */
export function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null;
    if (stat) children.set(stat.parent, [...(children.get(stat.parent) ?? []), stat.pid]);
  }
  const tree = [root];
  for (let index = 0; index < tree.length; index++) tree.push(...(children.get(tree[index] as number) ?? []));
  return tree;
}

/** Microseconds of CPU that the tree has used so far, in user and kernel mode. Neither count is ever too high. */
export const cpuMicros = (tree: readonly number[]): number =>
  tree.reduce((sum, pid) => {
    const stat = statOf(pid);
    if (!stat) return sum;
    const own = Math.max(stat.own * MICROS_PER_TICK, scheduledMicros(pid));
    return sum + own + stat.ended * MICROS_PER_TICK;
  }, 0);

/** Resident bytes. Pages that processes of the tree share are counted for each of them; a tree of one is exact. */
export const residentBytes = (tree: readonly number[]): number =>
  tree.reduce((sum, pid) => {
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1];
    return sum + Number(kilobytes ?? 0) * 1024;
  }, 0);

export type Used = { readonly cpuMicros: number; readonly peakBytes: number };

/** Measures from now until the returned function is called. Memory is the highest of samples. */
export function watchTree(root: number, everyMs = 100): () => Used {
  let tree = treeOf(root);
  let peakBytes = residentBytes(tree);
  const before = cpuMicros(tree);
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, residentBytes(tree));
  }, everyMs);
  return () => {
    clearInterval(timer);
    tree = treeOf(root);
    peakBytes = Math.max(peakBytes, residentBytes(tree));
    return { cpuMicros: cpuMicros(tree) - before, peakBytes };
  };
}
