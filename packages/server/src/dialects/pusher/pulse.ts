/** Detects dead clients: a silent client is sent a ping, and closed if it stays silent. */
import type { Clock } from './clock.ts';
import type { Limits } from './limits.ts';

export type Pulse = {
  /** The client has sent a frame. */
  activity(): void;
  stop(): void;
};

/** Uses one timer per socket, which frames do not reset: it checks the time of the last frame. */
export function pulse(
  clock: Clock,
  { silenceMs, answerMs }: Pick<Limits, 'silenceMs' | 'answerMs'>,
  { ping, lost }: { readonly ping: () => void; readonly lost: () => void },
): Pulse {
  let lastActivity = clock.now();
  let isPinged = false;
  let cancel = clock.after(silenceMs, check);

  function check() {
    if (isPinged) return lost();
    const rest = lastActivity + silenceMs - clock.now();
    if (rest <= 0) {
      isPinged = true;
      ping();
    }
    cancel = clock.after(rest <= 0 ? answerMs : rest, check);
  }

  return {
    activity() {
      lastActivity = clock.now();
      if (!isPinged) return;
      isPinged = false;
      cancel();
      cancel = clock.after(silenceMs, check);
    },
    stop: () => cancel(),
  };
}
