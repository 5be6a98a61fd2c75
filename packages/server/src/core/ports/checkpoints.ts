/** Contents of files from before calls that may change them, kept on this machine. */
import type { CallId, ChangedFiles, PrincipalId, RewoundFiles, SessionId, TurnId } from '@parlance/protocol';

/** A session that was erased and created again under the same name is another one. */
export type CheckpointedSession = {
  readonly owner: PrincipalId;
  readonly id: SessionId;
  /** when it was created */
  readonly createdAt: number;
};

/**
 * What a call may change: anything in the working folder, or only these paths (relative to the folder, or absolute). Undefined:
 * nothing.
 */
export type MayChange = 'folder' | readonly string[] | undefined;

export type CheckpointedCall = {
  readonly session: CheckpointedSession;
  readonly ephemeral: boolean;
  readonly turn: TurnId;
  readonly call: CallId;
  /** number of an event of the turn */
  readonly seq: number;
  readonly root: string;
  readonly signal: AbortSignal;
};

/** `from`: what turns have changed from this event on. `undoes`: a rewind. */
export type RewindTarget =
  | { readonly from: number; readonly undoes?: undefined }
  | { readonly from?: undefined; readonly undoes: string };

export type RewindRequest = RewindTarget & {
  readonly session: CheckpointedSession;
  readonly root: string;
  readonly rewind: string;
  readonly overwrite: readonly string[];
};

export type PreviewedFile = {
  /** relative to the working folder; a folder ends in a slash */
  readonly path: string;
  /** what the rewind does to it */
  readonly change: 'added' | 'modified' | 'deleted';
  /** why it is kept as it is; absent if it is restored */
  readonly kept?: string;
  /** whether it is restored if it is named */
  readonly canOverwrite?: boolean;
  /** the difference as a patch; absent for content that is no text, or too long */
  readonly patch?: string;
};

export type RewindPreview = {
  readonly files: readonly PreviewedFile[];
  /** number of those that are not listed */
  readonly more: number;
};

/** What a call has made of a file. */
export type FileVersion = {
  /** hash of the content */
  readonly version: string;
  /** the file has this content now */
  readonly isCurrent?: true;
  /** absent for the content from before the first call */
  readonly by?: {
    readonly turn: TurnId;
    readonly call: CallId;
    /** number of an event of the turn */
    readonly seq: number;
  };
};

export type VersionedFile = Pick<RewindRequest, 'session' | 'root'> & { readonly path: string };

export interface Checkpoints {
  /**
   * Stores what the call may change, as it is now: durable when it resolves. The returned function is called when the call
   * has ended, and resolves with what it has changed.
   */
  before(call: CheckpointedCall, what: 'folder' | readonly string[]): Promise<() => Promise<ChangedFiles>>;
  /** What a rewind would do now. */
  preview(request: Pick<RewindRequest, 'session' | 'root'> & RewindTarget): Promise<RewindPreview>;
  /** Restores the files. Called again after a crash: it then completes what was begun. */
  restore(request: RewindRequest): Promise<RewoundFiles>;
  /** Contents of a file that are still stored, the oldest first. What was taken back is left out. */
  versions(file: VersionedFile): Promise<readonly FileVersion[]>;
  /** Null if `versions` does not name it. */
  content(file: VersionedFile & { readonly version: string }): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Whether there is anything about the session. */
  knows(session: CheckpointedSession): Promise<boolean>;
  /** Removes everything about the session. */
  forget(session: Pick<CheckpointedSession, 'owner' | 'id'>): Promise<void>;
}
