/**
 * Checkpoints of files, and what must hold of rewinds (O16): a call that may change files runs after its checkpoint is stored, files are
 * restored only for a rewind that is stored, once it is recorded, and no turn runs meanwhile.
 */
import type { DurableEvent } from '@parlance/protocol';
import type { Checkpoints } from '../packages/server/src/core/ports/checkpoints.ts';
import { type SessionRef, sessionKey } from '../packages/server/src/core/ports/event-store.ts';
import type { Process } from './world.ts';

/** The tool whose calls have checkpoints. */
export const CHANGES_FILES = 'plain_too';

export class RewindRules {
  readonly #checkpoints = new Set<string>();
  readonly #running = new Map<string, string>();

  constructor(private readonly fail: (ref: SessionRef, message: string) => void) {}

  committed(ref: SessionRef, events: readonly DurableEvent[]): void {
    for (const event of events) {
      const running = this.#running.get(sessionKey(ref));
      if (event.type === 'rewind.started') {
        if (running) this.fail(ref, `rewind ${event.rewind} starts while ${running} restores files`);
        this.#running.set(sessionKey(ref), event.rewind);
      } else if (event.type === 'files.rewound') {
        if (event.rewind !== running)
          this.fail(ref, `rewind ${event.rewind} ends, but ${running} is running`);
        this.#running.delete(sessionKey(ref));
      } else if (running && (event.type === 'turn.started' || event.type === 'tool.started'))
        this.fail(ref, `${event.type} while rewind ${running} restores files`);
    }
  }

  /** The content from before the call is stored. */
  stored(call: string): void {
    this.#checkpoints.add(call);
  }

  happened(ref: SessionRef, tool: string, call: string): void {
    if (tool === CHANGES_FILES && !this.#checkpoints.has(call))
      this.fail(ref, `call ${call} changes files before its checkpoint is stored`);
  }

  restored(ref: SessionRef, log: readonly DurableEvent[], rewind: string): void {
    if (!log.some((event) => event.type === 'rewind.started' && event.rewind === rewind))
      this.fail(ref, `rewind ${rewind} restores files, but is not stored`);
  }

  finish(refs: readonly SessionRef[]): void {
    for (const ref of refs) {
      const running = this.#running.get(sessionKey(ref));
      if (running) this.fail(ref, `rewind ${running} has no outcome`);
    }
  }

  /** The session is gone, or begins again with this log. */
  reset(ref: SessionRef, log: readonly DurableEvent[] = []): void {
    this.#running.delete(sessionKey(ref));
    this.committed(ref, log);
  }
}

type Observed = {
  stored(call: string): void;
  restored(node: Process, ref: SessionRef, rewind: string): void;
};

/** The checkpoints of one node, which remembers no contents: the core decides only when. */
export const checkpointsOf = (process: Process, observed: Observed, restoreMs: number): Checkpoints => ({
  async before({ call }) {
    await process.sleep(process.random.latency(10));
    observed.stored(call);
    return async () => {
      await process.sleep(process.random.latency(5));
      return { changed: [{ path: 'file.txt', change: 'modified' }] };
    };
  },
  async preview() {
    await process.sleep(process.random.latency(5));
    return { files: [], more: 0 };
  },
  async restore({ session: { owner, id }, rewind }) {
    observed.restored(process, { owner, id }, rewind);
    await process.sleep(process.random.latency(restoreMs));
    return { restored: [{ path: 'file.txt', change: 'modified' }], kept: [] };
  },
  versions: async () => [],
  content: async () => null,
  knows: async () => true,
  forget: async () => undefined,
});
