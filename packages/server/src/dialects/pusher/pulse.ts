/** Whether a client is still there: silence is answered with a ping, and silence after that with the end. */
import type { Clock } from './clock.ts';
import type { Limits } from './limits.ts';

export type Pulse = {
  /** Something came from the client. */
  heard(): void;
  stop(): void;
};

/** One timer per socket, which frames do not touch: it looks at when the last one came. */
export function pulse(
  clock: Clock,
  { silenceMs, answerMs }: Pick<Limits, 'silenceMs' | 'answerMs'>,
  { ping, lost }: { readonly ping: () => void; readonly lost: () => void },
): Pulse {
  let heardAt = clock.now();
  let asked = false;
  let cancel = clock.after(silenceMs, look);

  function look() {
    if (asked) return lost();
    const rest = heardAt + silenceMs - clock.now();
    if (rest <= 0) {
      asked = true;
      ping();
    }
    cancel = clock.after(rest <= 0 ? answerMs : rest, look);
  }

  return {
    heard() {
      heardAt = clock.now();
      if (!asked) return;
      asked = false;
      cancel();
      cancel = clock.after(silenceMs, look);
    },
    stop: () => cancel(),
  };
}
