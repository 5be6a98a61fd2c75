/** Invariants of a server, whatever it receives. */
import { MARKER } from '../errors/leaks.ts';

const LEAKS =
  /\bat .*\.[cm]?[jt]sx?:\d+|node_modules|packages\/server\/src|\b(?:Type|Syntax|Range|Zod)Error\b/;

/** The problem of a received message; null if there is none. */
export function complaint(received: string): string | null {
  if (received.includes(MARKER)) return 'words of a vendor';
  if (LEAKS.test(received)) return 'a stack or a path';
  // The one sentence with which a bug is answered.
  return received.includes('Something went wrong.') ? 'a bug' : null;
}

/** Resident memory of a process in MiB. */
export async function residentMiB(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Math.round(Number(status.match(/^VmRSS:\s+(\d+)/m)?.[1] ?? 0) / 1024);
}
