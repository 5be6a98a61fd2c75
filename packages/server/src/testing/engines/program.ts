/** A server program started by a test: in a temporary folder, on a free port, stopped with the test. */
import { rm } from 'node:fs/promises';
import { waitLimit } from '../until.ts';

export type Engine = {
  readonly url: string;
  readonly port: number;
  /** Sends SIGKILL; resolves when the process has exited. */
  kill(): Promise<void>;
  /** Restarts on the same port and folder; resolves when it responds. */
  restart(): Promise<void>;
  /** Sends SIGSTOP: connections stay open, nothing responds. */
  pause(): void;
  /** SIGCONT */
  resume(): void;
  /** Ends the process and removes its folder. */
  stop(): Promise<void>;
};

export type EngineOptions = {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** Starts the program in the foreground. */
  readonly start: () => Bun.Subprocess;
  /** Resolves with true once it responds. */
  readonly answers: () => Promise<boolean>;
};

export async function runEngine(options: EngineOptions): Promise<Engine> {
  const { url, port, folder, start, answers } = options;
  let process = start();
  /**
   * Restarts a program that exits immediately, until the deadline: after a kill, children of the earlier one
   * may still hold its memory or port.
   */
  const ready = async (): Promise<void> => {
    const began = performance.now();
    while (!(await answers())) {
      const { exitCode } = process;
      if (performance.now() - began > waitLimit())
        throw new Error(
          exitCode === null ? 'the program does not respond' : `the program exited with ${exitCode}`,
        );
      await Bun.sleep(exitCode === null ? 5 : 50);
      if (exitCode !== null) process = start();
    }
  };
  const kill = async (): Promise<void> => {
    process.kill('SIGKILL');
    await process.exited;
  };
  await ready();
  return {
    url,
    port,
    kill,
    async restart() {
      process = start();
      await ready();
    },
    pause: () => process.kill('SIGSTOP'),
    resume: () => process.kill('SIGCONT'),
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
