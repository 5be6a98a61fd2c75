/** Files of a working folder for people to look at, with the same limits as the tools that read files. */

export type FolderEntry = {
  readonly name: string;
  /** a link is not followed */
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  /** in bytes; of files */
  readonly size?: number;
  /** when it was written, in milliseconds since 1970 */
  readonly changedAt: number;
};

export type FolderPage = {
  /** sorted by name, folders first */
  readonly entries: readonly FolderEntry[];
  /** whether there are more */
  readonly more: boolean;
};

export type FoundPaths = {
  /** relative to the folder, the best match first; a folder ends in a slash */
  readonly paths: readonly string[];
  /** false: the folder is too large, and only a part was looked at */
  readonly complete: boolean;
};

/** A file that is held open, so that it stays the same file until this is disposed. */
export type OpenedFile = AsyncDisposable & {
  readonly size: number;
  /** changes with every write */
  readonly mark: string;
  /** Reads at most `length` bytes; empty at the end. */
  read(position: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
};

/** `path` is relative to `root`. Throws `tool_failed` or `tool_invalid` if it is missing, hidden or outside. */
export interface FolderFiles {
  /** One folder. */
  list(root: string, path: string): Promise<FolderPage>;
  /** Paths that contain the text, without what git ignores; without a text, what was written last. */
  find(root: string, text: string, signal: AbortSignal): Promise<FoundPaths>;
  /** A regular file. */
  open(root: string, path: string): Promise<OpenedFile>;
}
