/** Files from the button, the clipboard or drag and drop. */
import { useEffect, useState } from 'react';
import { type Attachment, attachmentOf, NotText, problemWith } from './attachments.ts';

export type Files = {
  readonly attached: readonly Attachment[];
  /** why files were rejected, one sentence each */
  readonly problems: readonly string[];
  /** a drag that can be dropped is over the page */
  readonly hovering: boolean;
  add(files: Iterable<File>): Promise<void>;
  remove(id: string): void;
  clear(): void;
  /** puts removed ones back, first */
  restore(attached: readonly Attachment[]): void;
};

export function useFiles(): Files {
  const [attached, setAttached] = useState<readonly Attachment[]>([]);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [hovering, setHovering] = useState(false);

  async function add(files: Iterable<File>): Promise<void> {
    const taken = [...attached];
    const refused: string[] = [];
    for (const file of files) {
      const problem = problemWith(file, taken);
      if (problem !== null) {
        refused.push(problem);
        continue;
      }
      try {
        taken.push(await attachmentOf(file));
      } catch (thrown) {
        if (!(thrown instanceof NotText)) throw thrown;
        refused.push(thrown.message);
      }
    }
    setAttached(taken);
    setProblems(refused);
  }

  useEffect(() => {
    const holds = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false;
    const over = (event: DragEvent) => {
      if (!holds(event)) return;
      // Otherwise the browser would navigate to the file.
      event.preventDefault();
      setHovering(true);
    };
    const leave = ({ relatedTarget }: DragEvent) => relatedTarget === null && setHovering(false);
    const drop = (event: DragEvent) => {
      if (!holds(event)) return;
      event.preventDefault();
      setHovering(false);
      void add(event.dataTransfer?.files ?? []);
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  });

  return {
    attached,
    problems,
    hovering,
    add,
    remove: (id) => setAttached(attached.filter((one) => one.id !== id)),
    restore: (removed) => setAttached((now) => [...removed, ...now]),
    clear() {
      setAttached([]);
      setProblems([]);
    },
  };
}
