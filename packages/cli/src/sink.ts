/** Output of a command: a file or stdout. */
import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { CommandError } from './command-error.ts';

export type Sink = Disposable & {
  write(text: string): Promise<void>;
  /** Marks the output as complete. Disposing without it leaves nothing behind. */
  done(): void;
};

export const toStdout = (): Sink => ({
  async write(text) {
    await Bun.write(Bun.stdout, text);
  },
  done: () => undefined,
  [Symbol.dispose]: () => undefined,
});

/** Writes to a temporary file with mode 0600, and moves it when complete. */
export function toFile(path: string): Sink {
  const draft = `${path}.${randomUUID()}.part`;
  const file = open(draft, path);
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  return {
    async write(text) {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    },
    done() {
      fsyncSync(file);
      close();
      renameSync(draft, path);
    },
    [Symbol.dispose]() {
      close();
      rmSync(draft, { force: true });
    },
  };
}

function open(draft: string, path: string): number {
  try {
    return openSync(draft, 'wx', 0o600);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(',', 1)[0] : String(error);
    throw new CommandError(`${path} cannot be written (${reason})`, 1, { cause: error });
  }
}
