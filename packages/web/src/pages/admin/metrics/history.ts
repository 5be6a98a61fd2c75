/** Metrics of the last minutes, kept in the page because the server keeps none. Polled while the section is shown. */
import { ParlanceError } from '@parlance/sdk';
import { onActivity } from '@parlance/ui/state/activity.ts';
import { parlance } from '@parlance/ui/state/server.ts';
import { store } from '@parlance/ui/state/store.ts';
import { type Figures, figuresOf } from './figures.ts';

export const POLL_MS = 2_000;
export const HISTORY_MS = 5 * 60_000;

export type History = { readonly figures: readonly Figures[]; readonly fault: ParlanceError | null };

export const history = store<History>({ figures: [], fault: null });

async function poll(signal: AbortSignal): Promise<void> {
  try {
    const text = await parlance.admin.metrics({ signal });
    const now = Date.now();
    const kept = history.get().figures.filter(({ at }) => at > now - HISTORY_MS);
    history.set({ figures: [...kept, figuresOf(text, now)], fault: null });
  } catch (thrown) {
    if (signal.aborted) return;
    if (!(thrown instanceof ParlanceError)) throw thrown;
    history.set({ ...history.get(), fault: thrown });
  }
}

let shownTo = '';

/** Returns the stop function. Discards figures of another principal. Does not poll while hidden: the chart has a gap. */
export function followMetrics(principal: string): () => void {
  if (shownTo !== principal) history.set({ figures: [], fault: null });
  shownTo = principal;
  const controller = new AbortController();
  const again = async () => {
    if (!document.hidden) await poll(controller.signal);
    if (!controller.signal.aborted) timer = setTimeout(() => void again(), POLL_MS);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  void again();
  const unfollow = onActivity(({ type }) => type === 'ready' && void poll(controller.signal));
  return () => {
    unfollow();
    controller.abort();
    clearTimeout(timer);
  };
}
