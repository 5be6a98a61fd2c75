/** Frames of a page, as the page itself sees them. */
import type { Figures } from './table.ts';

export type Frames = {
  /** milliseconds between frames */
  readonly intervals: readonly number[];
  /** tasks of more than 50 ms */
  readonly longTasks: number;
  readonly nodes: number;
};

const FRAME_MS = 1_000 / 60;

/** A frame that comes after two intervals or more has dropped those between. */
function frameFigures({ intervals, longTasks, nodes }: Frames) {
  const dropped = intervals.reduce((sum, ms) => sum + Math.max(0, Math.round(ms / FRAME_MS) - 1), 0);
  return { frames: intervals.length, dropped, longestMs: Math.max(0, ...intervals), longTasks, nodes };
}

/** The worst value of each figure. */
export function worstFigures(rounds: readonly Frames[]): Figures {
  const figures = rounds.map(frameFigures);
  const worst = (key: keyof (typeof figures)[number]) => Math.max(...figures.map((one) => one[key]));
  return {
    frames: worst('frames'),
    dropped: worst('dropped'),
    longestMs: worst('longestMs'),
    longTasks: worst('longTasks'),
    nodes: worst('nodes'),
  };
}

/** Begins to watch; `stopWatching()` in the page returns `Frames`. */
export const WATCH_FRAMES = `(() => {
  const intervals = [];
  let [longTasks, last, isOver] = [0, performance.now(), false];
  const observer = new PerformanceObserver((list) => { longTasks += list.getEntries().length; });
  observer.observe({ type: 'longtask' });
  const frame = (now) => {
    intervals.push(now - last);
    last = now;
    if (!isOver) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.stopWatching = () => {
    isOver = true;
    observer.disconnect();
    return { intervals: intervals.slice(1), longTasks, nodes: document.querySelectorAll('*').length };
  };
})()`;

/** (selector, pixels a frame, frames) */
export const SCROLL = `(selector, pixels, frames) => new Promise((resolve) => {
  const element = document.querySelector(selector);
  const step = (left) => {
    if (left === 0) return resolve();
    element.scrollTop += pixels;
    requestAnimationFrame(() => step(left - 1));
  };
  step(frames);
})`;
