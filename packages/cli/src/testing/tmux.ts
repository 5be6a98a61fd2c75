/** A real terminal for tests: tmux, whose screen can be read as the user sees it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../server/src/testing/until.ts';

const PARLANCE = join(import.meta.dir, '../../bin/parlance');

export const hasTmux = Bun.which('tmux') !== null;

export type TerminalOptions = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
  /** the terminal tells it when it is asked; without it, the terminal does not answer */
  readonly background?: string;
  /** Runs it in an interactive shell, which can stop it and bring it back. */
  readonly isInShell?: boolean;
};

export type Terminal = AsyncDisposable & {
  /** Types text, with a pause after each letter if one is given. */
  type(text: string, pauseMs?: number): Promise<void>;
  /** Presses keys by their tmux names: `Enter`, `Escape`, `C-c`, `Up`, `M-Enter`. */
  press(...keys: string[]): Promise<void>;
  paste(text: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** The screen; with `colours`, including escape sequences. */
  screen(colours?: boolean): Promise<string>;
  /** The screen and its scrollback. */
  everything(): Promise<string>;
  /** Resolves with the screen when it matches. */
  shows(pattern: RegExp): Promise<string>;
  /** Resolves with the screen when it no longer matches. */
  hides(pattern: RegExp): Promise<string>;
};

const WAIT_MS = 40;

/** Runs `parlance ARGS`; prints its exit code as `exit CODE` at the end. */
export async function openTerminal(options: TerminalOptions): Promise<Terminal> {
  const { args, cwd, env = {}, columns = 80, rows = 24 } = options;
  const folder = mkdtempSync(join(tmpdir(), 'parlance-tmux-'));
  const socket = join(folder, 'socket');
  const environment = { PATH: process.env.PATH ?? '', HOME: cwd, LANG: 'C.UTF-8', ...env };
  const tmux = async (...words: string[]): Promise<string> => {
    const child = Bun.spawn(['tmux', '-S', socket, '-f', '/dev/null', ...words], {
      cwd,
      env: { ...environment, TERM: 'xterm-256color' },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [out, problem, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (code !== 0) throw new Error(`tmux ${words[0]}: ${problem}`);
    return out;
  };
  const command = ['sh', PARLANCE, ...args].map(quoted).join(' ');
  const shown = options.isInShell
    ? 'PS1="shell> " exec sh -i'
    : `${command}; echo "exit $?"; exec sleep 1000`;
  // The server ends without a session, so that the style is set with the first one.
  const style = options.background ? ['set', '-g', 'window-style', `bg=${options.background}`, ';'] : [];
  await tmux(
    'start-server',
    ';',
    ...style,
    'new-session',
    '-d',
    '-x',
    String(columns),
    '-y',
    String(rows),
    shown,
  );
  await tmux('set', '-s', 'escape-time', '0');
  if (options.isInShell) await tmux('send-keys', command, 'Enter');

  const screen = (colours = false) => tmux('capture-pane', '-p', ...(colours ? ['-e'] : []));
  const shownWhen = (isDone: (screen: string) => boolean, what: string): Promise<string> =>
    until(
      async () => {
        const shown = await screen();
        return isDone(shown) && shown;
      },
      async () => `${what}:\n${await tmux('capture-pane', '-p', '-S', '-100')}`,
      WAIT_MS,
    );

  return {
    async type(text, pauseMs) {
      const pause = ['run-shell', '-d', String((pauseMs ?? 0) / 1_000), ';'];
      const letters = [...text].flatMap((letter) => ['send-keys', '-l', letter, ';', ...pause]);
      await (pauseMs === undefined ? tmux('send-keys', '-l', text) : tmux(...letters));
    },
    async press(...keys) {
      await tmux('send-keys', ...keys);
    },
    async paste(text) {
      const file = join(folder, 'pasted');
      await Bun.write(file, text);
      await tmux('load-buffer', file);
      await tmux('paste-buffer', '-p', '-r');
    },
    async resize(width, height) {
      await tmux('resize-window', '-x', String(width), '-y', String(height));
    },
    screen,
    everything: () => tmux('capture-pane', '-p', '-S', '-'),
    shows: (pattern) => shownWhen((shown) => pattern.test(shown), `${pattern} did not appear`),
    hides: (pattern) => shownWhen((shown) => !pattern.test(shown), `${pattern} did not go away`),
    async [Symbol.asyncDispose]() {
      await tmux('kill-server').catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
