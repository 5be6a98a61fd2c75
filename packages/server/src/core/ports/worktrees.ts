/** Copies of working folders for sub-agents that write at the same time, kept on this machine. */
import type { FileChange } from '@parlance/protocol';
import type { SessionRef } from './session-ref.ts';

export type WorktreeChange = FileChange & {
  /** why it cannot be applied */
  readonly conflict?: string;
  /** the difference to the folder; absent for content that is no text, or too long */
  readonly patch?: string;
};

export type WorktreeChanges = {
  readonly files: readonly WorktreeChange[];
  /** number of those that are not listed */
  readonly more: number;
  /** of all changes and their contents */
  readonly hash: string;
};

export type MergedChanges = {
  readonly applied: readonly FileChange[];
  /** they stay in the worktree */
  readonly kept: readonly (Pick<WorktreeChange, 'path' | 'patch'> & { readonly reason: string })[];
  /** number of those that are not listed */
  readonly more: number;
};

/** Nothing of the folder or its repository is run, and only `apply` changes the folder. Rejects with `tool_failed`, for the model. */
export interface Worktrees {
  /** Durable when it resolves. Called again, it does nothing. */
  make(session: SessionRef, origin: string, signal: AbortSignal): Promise<void>;
  /** Absolute path of the copy. After its changes were applied or discarded, it is made anew. */
  folder(session: SessionRef): Promise<string>;
  /** What is different from the copied folder as it was. */
  changes(session: SessionRef): Promise<WorktreeChanges>;
  /**
   * Applies the changes with that hash where the folder is still as it was copied; null if there are others by now. Called again after a
   * crash with the same `merge`, it completes what was begun.
   */
  apply(
    session: SessionRef,
    request: { readonly merge: string; readonly hash: string },
  ): Promise<MergedChanges | null>;
  /** Removes the copy. */
  discard(session: SessionRef): Promise<void>;
  /** Removes everything about the session. */
  forget(session: SessionRef): Promise<void>;
}
