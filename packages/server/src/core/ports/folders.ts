/** Folders that sessions may work in, in addition to the server's working directory. */
export interface Folders {
  /** The real path of the folder. Throws `invalid` if a session may not work there. */
  admit(path: string): Promise<string>;
  /**
   * Called before each call with a path that `admit` returned, possibly much earlier or on another machine.
   * Throws `tool_failed` if sessions may no longer work there, or if a link points elsewhere. Returns the
   * path relative to the server's working directory; empty if it is that directory, or outside of it.
   */
  check(path: string): Promise<string>;
}
