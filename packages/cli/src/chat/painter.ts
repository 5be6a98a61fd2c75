/** Redraws the screen after changes, at a limited rate for slow connections. */
import { type Frame, Screen } from '../terminal/screen.ts';

const FRAME_MS = 33;
const TICK_MS = 100;

export type Picture = {
  readonly final: readonly string[];
  readonly frame: Frame;
  /** something is animated, such as a clock */
  readonly isBusy: boolean;
};

export class Painter {
  readonly screen = new Screen(terminalOutput);
  readonly #printed: string[] = [];
  #next: Timer | null = null;
  #ticking: Timer | null = null;
  #drawnAt = 0;

  constructor(private readonly picture: () => Picture) {}

  /** Prints lines above everything that can change. */
  print(lines: readonly string[]): void {
    this.#printed.push(...lines);
    this.later();
  }

  later(): void {
    const wait = Math.max(0, FRAME_MS - (performance.now() - this.#drawnAt));
    this.#next ??= setTimeout(this.now, wait);
  }

  readonly now = (): void => {
    this.#cancel();
    this.#drawnAt = performance.now();
    const { final, frame, isBusy } = this.picture();
    this.screen.draw([...this.#printed.splice(0), ...final], frame);
    if (isBusy) this.#ticking ??= setInterval(() => this.later(), TICK_MS);
    else this.#stopTicking();
  };

  /** Ends with these lines. */
  close(lines: readonly string[]): void {
    this.#cancel();
    this.#stopTicking();
    this.screen.close([...this.#printed.splice(0), ...lines]);
  }

  #cancel(): void {
    if (this.#next) clearTimeout(this.#next);
    this.#next = null;
  }

  #stopTicking(): void {
    if (this.#ticking) clearInterval(this.#ticking);
    this.#ticking = null;
  }
}

const terminalOutput = {
  get columns() {
    return process.stdout.columns || 80;
  },
  get rows() {
    return process.stdout.rows || 24;
  },
  write(text: string) {
    process.stdout.write(text);
  },
};
