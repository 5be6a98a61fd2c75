/** Signal handling of a running server. */

/**
 * Ctrl-C under `npm start` arrives twice: from the terminal, which signals the process group, and from npm, which
 * forwards it. Supervisors that signal a group do the same. The pair counts as one signal.
 */
const ONE_PRESS_MS = 200;

export type StopHandlers = {
  /** resolves when the server is drained */
  readonly stop: () => Promise<void>;
  readonly exit: (code: number) => void;
  readonly report: (line: string) => void;
  /** what a person who stops it is shown; null if there is nothing to wait for */
  readonly waiting?: () => string | null;
  /** in milliseconds */
  readonly now?: () => number;
};

/**
 * The first signal drains and exits with 0, or 1 if draining fails; a second one exits with 1 immediately.
 */
export function whenSignalled({
  stop,
  exit,
  report,
  waiting = () => null,
  now = performance.now.bind(performance),
}: StopHandlers) {
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | null = null;
  return (signal: NodeJS.Signals): void => {
    if (first === null) {
      first = { signal, at: now() };
      const line = waiting();
      if (line !== null) report(line);
      stop().then(
        () => exit(0),
        (error: unknown) => {
          report(`could not stop cleanly: ${error instanceof Error ? error.message : String(error)}`);
          exit(1);
        },
      );
    } else if (signal !== first.signal || now() - first.at >= ONE_PRESS_MS) {
      exit(1);
    }
  };
}
