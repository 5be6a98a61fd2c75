/** Whether this program is the single executable, whose modules and files are embedded. */
export const isCompiled: boolean =
  import.meta.path.startsWith('/$bunfs/') || import.meta.path.includes('~BUN');
