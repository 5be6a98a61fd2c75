/** The wall clock of one node, which can be wrong (Debian's `faketime`). Its monotonic clock is right. */
import { writeFileSync } from 'node:fs';

const [library] = new Bun.Glob('usr/lib/*/faketime/libfaketimeMT.so.1').scanSync({
  cwd: '/',
  absolute: true,
});

/** Why clocks cannot be wrong; null if they can. */
export const noFakeClock: string | null = library === undefined ? 'faketime is not installed' : null;

export type Clock = {
  /** settings of the node */
  readonly settings: Record<string, string>;
  /** Shows the right time and this many seconds; the node notices within a second. */
  set(seconds: number): void;
};

/** `file` is read by the node while it runs. */
export function openClock(file: string): Clock {
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
  set(0);
  const settings = {
    LD_PRELOAD: library ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    // What a node waits for does not depend on its wall clock.
    DONT_FAKE_MONOTONIC: '1',
  };
  return { settings: library === undefined ? {} : settings, set };
}
