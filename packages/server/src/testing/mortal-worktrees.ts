/** Worktrees of a process that is killed. */
import type { Worktrees } from '../core/ports/worktrees.ts';

/** What the process has begun when it is dead is done, and nothing else. */
export function mortalWorktrees(dead: Promise<void>) {
  let isDead = false;
  void dead.then(() => {
    isDead = true;
  });
  const begun = new Set<Promise<unknown>>();
  const alive =
    <Given extends unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
    (...given: Given): Promise<Result> => {
      if (isDead) return new Promise(() => undefined);
      const running = work(...given);
      begun.add(running);
      return running;
    };
  const wrap = (worktrees: Worktrees): Worktrees => ({
    make: alive((...given) => worktrees.make(...given)),
    folder: alive((...given) => worktrees.folder(...given)),
    changes: alive((...given) => worktrees.changes(...given)),
    apply: alive((...given) => worktrees.apply(...given)),
    discard: alive((...given) => worktrees.discard(...given)),
    forget: alive((...given) => worktrees.forget(...given)),
  });
  return { wrap, settled: () => Promise.allSettled(begun) };
}
