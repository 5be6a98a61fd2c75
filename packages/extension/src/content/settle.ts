/** Waits until the page has reacted to an action: no changes, no requests, nothing that says that it loads. */
import type { Observations } from '../messages.ts';
import { rootsIn } from './dom/flat-tree.ts';
import { isElement } from './dom/kinds.ts';
import { isRendered } from './dom/visibility.ts';
import { isIndicator } from './indicator.ts';
import { reported, resetReported } from './page-world.ts';

const QUIET_MS = 250;
const MIN_MS = 120;
const MAX_MS = 5_000;
const STEP_MS = 40;
/** Suggestions usually come after 200 to 500 ms. */
const PATIENCE_MS = 650;
/** A page that keeps changing a little, such as a clock, counts as quiet after this time. */
const BUSY_PAGE_MS = 1_500;
const CHANGE_WINDOW_MS = 500;
const FEW_CHANGES = 12;

const observed = {
  url: location.href,
  beganAt: performance.now(),
  changedAt: 0,
  /** times and numbers of the last changes */
  changes: [] as { readonly at: number; readonly count: number }[],
  mutated: false,
  /** something was added or shown; a clock is no reaction */
  reacted: false,
  network: false,
  /** how long it takes at least, unless the page reacts sooner */
  patienceMs: 0,
};

const observer = new MutationObserver((records) => {
  const own = records.filter((record) => !isOurs(record));
  if (own.length === 0) return;
  const now = performance.now();
  observed.changes = observed.changes.filter(({ at }) => now - at < CHANGE_WINDOW_MS);
  observed.changes.push({ at: now, count: own.length });
  observed.changedAt = now;
  observed.mutated = true;
  observed.reacted ||= own.some(isReaction);
});

/** Something was added or shown. */
const isReaction = ({ type, target, attributeName, addedNodes }: MutationRecord): boolean =>
  type === 'attributes'
    ? SHOWING.test(attributeName ?? '') && (target as Element).firstElementChild !== null
    : [...addedNodes].some(isElement);

/** Classes change under the pointer as well, before a menu opens. */
const SHOWING = /^(?:style|hidden|open|aria-hidden|aria-expanded)$/;

/** The indicator, and marks of the pointer. */
const isOurs = ({ target, attributeName, addedNodes, removedNodes }: MutationRecord): boolean =>
  isIndicator(target) ||
  attributeName === HOVER_MARK ||
  [...addedNodes, ...removedNodes].some(
    (node) => isIndicator(node) || (isElement(node) && node.hasAttribute(HOVER_MARK)),
  );

/** Something may happen with a delay: suggestions for what was typed, a menu under the pointer. */
export function expectReaction(): void {
  observed.patienceMs = PATIENCE_MS;
}

const OBSERVED = { subtree: true, childList: true, characterData: true, attributes: true } as const;

/** Called before an action. */
export function beginObserving(): void {
  resetReported();
  observer.disconnect();
  for (const root of rootsIn(document)) observer.observe(root, OBSERVED);
  const now = performance.now();
  Object.assign(observed, {
    url: location.href,
    beganAt: now,
    changedAt: now,
    changes: [],
    mutated: false,
    reacted: false,
    network: false,
    patienceMs: 0,
  });
}

export function watchNetwork(): void {
  const resources = new PerformanceObserver(() => {
    observed.network = true;
    observed.changedAt = performance.now();
  });
  resources.observe({ type: 'resource' });
}

export async function settle(maxMs = MAX_MS): Promise<Observations> {
  const began = performance.now();
  while (performance.now() - began < Math.min(maxMs, 30_000) && !isQuiet(performance.now() - began)) {
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  return {
    url: location.href,
    didNetworkOccur: observed.network || reported.requests > 0,
    didDomMutate: observed.mutated,
    didUrlChange: location.href !== observed.url,
    dialogs: [...reported.dialogs],
    openedUrls: [...reported.openedUrls],
    openedTabs: [...reported.openedTabs],
  };
}

function isQuiet(waited: number): boolean {
  if (waited < MIN_MS || document.readyState === 'loading' || reported.pending > 0) return false;
  if (!observed.reacted && !observed.network && waited < observed.patienceMs) return false;
  const isIdle = performance.now() - observed.changedAt >= QUIET_MS;
  const isBusyPage = waited > BUSY_PAGE_MS && recentChanges() <= FEW_CHANGES;
  return (isIdle || isBusyPage) && !isLoading();
}

const recentChanges = (): number => {
  const now = performance.now();
  return observed.changes.reduce((sum, { at, count }) => sum + (now - at < CHANGE_WINDOW_MS ? count : 0), 0);
};

const BUSY =
  '[aria-busy="true"], [role="progressbar"]:not([aria-valuenow]), progress:not([value]), [class*="spinner" i], [class*="skeleton" i], [class~="loading" i], [class~="loader" i]';

/** Something in view says that the page loads. */
function isLoading(): boolean {
  for (const element of document.querySelectorAll(BUSY)) {
    const { top, bottom, height } = element.getBoundingClientRect();
    if (height > 0 && bottom > 0 && top < window.innerHeight && isRendered(element)) return true;
  }
  return false;
}

/** Marks what is under the pointer, where rules for `:hover` are repeated. */
export const HOVER_MARK = 'data-parlance-hover';
