/** Pending requests. */
import type { NodeId } from '../../core/ports/lease.ts';
import { NoAnswer } from '../../core/ports/transport.ts';
import type { Item } from './envelope.ts';

type Waiting = {
  readonly to: NodeId;
  readonly kind: string;
  readonly resolve: (body: unknown) => void;
  readonly reject: (error: NoAnswer) => void;
  readonly timer: ReturnType<typeof setTimeout>;
};

const MAX_WAITING = 10_000;

export class Requests {
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  /** Returns the id of the request and its answer. */
  begin(to: NodeId, kind: string, timeoutMs: number): { id: number; answered: Promise<unknown> } {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = ++this.#last;
    if (this.#waiting.size >= MAX_WAITING) {
      reject(new NoAnswer('too many pending requests', 'no'));
      return { id, answered: promise };
    }
    const late = new NoAnswer(`no answer from node ${to} in ${timeoutMs} ms`, 'unknown');
    const timer = setTimeout(() => this.#end(id)?.reject(late), timeoutMs);
    this.#waiting.set(id, { to, kind, resolve, reject, timer });
    return { id, answered: promise };
  }

  /** False if no request waits for this answer: it is late, or from a different node. */
  answer(from: NodeId, { kind, answer = 0, body, refused }: Item): boolean {
    const waiting = this.#waiting.get(answer);
    if (!waiting || waiting.to !== from || waiting.kind !== kind) return false;
    if (refused !== undefined) this.#end(answer)?.reject(new NoAnswer(refused, 'refused'));
    else this.#end(answer)?.resolve(body);
    return true;
  }

  /** Rejects all requests, or those to one node; they may have been handled. */
  fail(reason: string, to?: NodeId): void {
    for (const [id, waiting] of [...this.#waiting])
      if (to === undefined || waiting.to === to) this.#end(id)?.reject(new NoAnswer(reason, 'unknown'));
  }

  #end(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting) clearTimeout(waiting.timer);
    this.#waiting.delete(id);
    return waiting;
  }
}
