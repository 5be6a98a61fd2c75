/**
 * Kills processes that left the group of their command (`setsid`, a daemon) and would outlive it. They are recognised by an
 * environment variable, which every process inherits. One that clears its environment is only found while its parents live.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { errorCode } from '../../lib/errors.ts';

const MARK = 'PARLANCE_COMMAND';
/** Each round finds what was started while the previous one killed. */
const ROUNDS = 20;

export type Mark = { readonly environment: Readonly<Record<string, string>>; readonly text: string };

export function newMark(): Mark {
  const value = crypto.randomUUID();
  return { environment: { [MARK]: value }, text: `${MARK}=${value}` };
}

/** Kills processes with the mark and descendants of `pid` until none is left. Does nothing without /proc. */
export function killStragglers({ text }: Mark, pid: number): void {
  if (process.platform !== 'linux') return;
  for (let round = 0; round < ROUNDS; round++) {
    const found = new Set([...processes().filter((id) => carries(id, text)), ...descendantsOf(pid)]);
    if (found.size === 0) return;
    for (const id of found) kill(id);
  }
}

const processes = (): number[] => readdirSync('/proc').map(Number).filter(Number.isInteger);

const carries = (id: number, text: string): boolean =>
  isAlive(id) && readProcess(id, 'environ').split('\0').includes(text);

/** Reads the state of every process of the machine. */
export function descendantsOf(pid: number): number[] {
  const children = Map.groupBy(processes(), (id) => Number(statusOf(id)[1]));
  const found = [...(children.get(pid) ?? [])];
  for (let at = 0; at < found.length; at++) found.push(...(children.get(found[at] ?? 0) ?? []));
  return found.filter(isAlive);
}

/** A zombie only waits for its parent. */
const isAlive = (id: number): boolean => !['Z', 'X', undefined].includes(statusOf(id)[0]);

/** State, parent and so on: what follows the name, which may contain anything. */
const statusOf = (id: number): string[] => {
  const text = readProcess(id, 'stat');
  return text === '' ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
};

/** Empty if the process is gone or belongs to another user. */
export function readProcess(id: number, file: string): string {
  try {
    return readFileSync(`/proc/${id}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function kill(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch (thrown) {
    if (errorCode(thrown) !== 'ESRCH' && errorCode(thrown) !== 'EPERM') throw thrown;
  }
}
