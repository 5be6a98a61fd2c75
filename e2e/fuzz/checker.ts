/** Invariants of a server for any input. */
import { MARKER } from '../errors/leaks.ts';

const LEAKS =
  /\bat .*\.[cm]?[jt]sx?:\d+|node_modules|packages\/server\/src|\b(?:Type|Syntax|Range|Zod)Error\b/;

/** The problem with a received message; null if there is none. */
export function problemIn(received: string): string | null {
  if (received.includes(MARKER)) return 'words of a vendor';
  if (LEAKS.test(received)) return 'a stack or a path';
  // The message of an internal error.
  return received.includes('Something went wrong.') ? 'a bug' : null;
}

/** Resident memory of a process in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Math.round(Number(status.match(/^VmRSS:\s+(\d+)/m)?.[1] ?? 0) / 1024);
}
