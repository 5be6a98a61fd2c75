/** Whether this program is the single executable: its modules and files are inside of it, not on the disk. */
export const isCompiled: boolean =
  import.meta.path.startsWith('/$bunfs/') || import.meta.path.includes('~BUN');
