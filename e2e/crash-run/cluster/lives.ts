/** The nodes that clients of a run may use, like a load balancer with readiness probes. */
import type { ServerProcess } from '../../server-process.ts';
import type { Life, ServerLives } from '../victim.ts';

type Member = {
  readonly life: Life;
  /** the process itself */
  readonly process: ServerProcess;
  readonly over: PromiseWithResolvers<void>;
};

const LOOK_AGAIN_MS = 10;

export class ClusterLives implements ServerLives {
  readonly #over = new Map<number, Promise<void>>();
  #members: Member[] = [];
  #number = 0;
  #turn = 0;
  #isAway = false;
  #joined = Promise.withResolvers<void>();

  /** The number of nodes that clients may use now. */
  get count(): number {
    return this.#members.length;
  }

  /** The node with this index. */
  at(index: number): ServerProcess {
    const member = this.#members[index];
    if (!member) throw new Error('there is no node');
    return member.process;
  }

  /** -1 if there is none. */
  indexWhere(matches: (process: ServerProcess) => boolean): number {
    return this.#members.findIndex(({ process }) => matches(process));
  }

  /** Whether the database is down. Nodes report ready for a moment longer, so none may join in that time. */
  set databaseAway(isAway: boolean) {
    this.#isAway = isAway;
  }

  /** Resolves when the node is ready; clients may use it from then on. */
  async join(process: ServerProcess): Promise<void> {
    while (this.#isAway || !(await isReady(process)) || this.#isAway) await Bun.sleep(LOOK_AGAIN_MS);
    const over = Promise.withResolvers<void>();
    const server: ServerProcess = {
      ...process,
      async connect(path) {
        const client = await process.connect(path);
        over.promise.then(() => client.close());
        return client;
      },
    };
    const number = ++this.#number;
    this.#over.set(number, over.promise);
    this.#members.push({ life: { number, server }, process, over });
    this.#joined.resolve();
    this.#joined = Promise.withResolvers();
  }

  /**
   * Ends these nodes with `end`. Their clients are notified, and use another node or wait for one. Resolves
   * with the processes.
   */
  async leave(which: readonly number[], end: (process: ServerProcess) => unknown): Promise<ServerProcess[]> {
    const leaving = this.#members.filter((_, index) => which.includes(index));
    this.#members = this.#members.filter((member) => !leaving.includes(member));
    await Promise.all(leaving.map(({ process }) => end(process)));
    for (const { over } of leaving) over.resolve();
    return leaving.map(({ process }) => process);
  }

  /** Round robin over the nodes. */
  async up(): Promise<Life> {
    for (;;) {
      const member = this.#members[this.#turn++ % Math.max(this.#members.length, 1)];
      if (member) return member.life;
      await this.#joined.promise;
    }
  }

  async over(number: number, patienceMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), patienceMs);
    this.#over.get(number)?.then(() => resolve(true));
    return promise.finally(() => clearTimeout(timer));
  }
}

const isReady = ({ http }: ServerProcess): Promise<boolean> =>
  fetch(`${http}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
