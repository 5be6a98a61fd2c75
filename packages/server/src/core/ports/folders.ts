/** The folders that sessions may work in, beside the server's working directory. */
export interface Folders {
  /** The real path of the folder. Throws `invalid` if a session may not work there. */
  admit(path: string): Promise<string>;
  /**
   * Called before each call with a path that `admit` returned, perhaps on another day or another machine. Throws
   * `tool_failed` if a session may not work there now, or if a link leads elsewhere. Returns its path from the working
   * directory of the server on: empty if it is that, or outside of it.
   */
  check(path: string): Promise<string>;
}
