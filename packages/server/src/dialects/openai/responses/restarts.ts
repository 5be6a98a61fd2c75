/**
 * Numbering of the streams of a session after a restarted step. Discarded output is not stored, so the log
 * alone does not tell how many events and items were sent: a label stores the numbers with which the first
 * stream continued.
 */
import type { Principal } from '@parlance/protocol';
import type { SessionRef } from '../../../core/index.ts';
import type { Context } from '../context.ts';

/** The number of the next event, and the index of the next item. */
export type Position = { readonly number: number; readonly index: number };

const LABEL = 'openai.restarts';
const MAX_CHARACTERS = 2_000;
/** The most events of a discarded step that a reader can have received. */
const MAX_VOID = 100_000;

type SessionAccess = { readonly ref: SessionRef; readonly principal: Principal };

export class Restarts {
  private constructor(
    private readonly ctx: Pick<Context, 'engine' | 'log'>,
    private readonly named: SessionAccess,
    private readonly known: ReadonlyMap<number, Position>,
  ) {}

  static async of(ctx: Pick<Context, 'engine' | 'log'>, named: SessionAccess): Promise<Restarts> {
    return new Restarts(ctx, named, positionsIn(await labelOf(ctx, named)));
  }

  /** Null if no stream has continued after that event. */
  at(restarted: number): Position | null {
    return this.known.get(restarted) ?? null;
  }

  /** Resolves when the position is stored, or storing it has failed. */
  async keep(restarted: number, { number, index }: Position): Promise<void> {
    const { engine, log } = this.ctx;
    const { ref, principal } = this.named;
    try {
      const entries = (await labelOf(this.ctx, this.named)).split(' ').filter((entry) => entry !== '');
      if (entries.some((entry) => entry.startsWith(`${restarted}:`))) return;
      entries.push([restarted, number, index].join(':'));
      while (entries.join(' ').length > MAX_CHARACTERS) entries.shift();
      const labels = { [LABEL]: entries.join(' ') };
      await engine.send(ref, { type: 'session.label', labels }, { principal, dialect: 'openai' });
    } catch (thrown) {
      log.warn({ err: thrown, session: ref.id }, 'failed to store stream position');
    }
  }
}

const labelOf = async ({ engine }: Pick<Context, 'engine'>, { ref }: SessionAccess): Promise<string> =>
  (await engine.record(ref))?.labels[LABEL] ?? '';

const positionsIn = (label: string): Map<number, Position> =>
  new Map(
    label.split(' ').map((entry) => {
      const [restarted = 0, number = 0, index = 0] = entry.split(':').map(Number);
      return [restarted, { number, index }];
    }),
  );

/**
 * The position of a stream whose reader may have received unknown discarded events, the last with number
 * `after`.
 */
export function positionAfter(now: Position, after: number): Position {
  const unknown = after + 1 - now.number;
  if (unknown <= 0 || unknown > MAX_VOID) return now;
  // Each of these events may have started an item.
  return { number: after + 1, index: now.index + unknown };
}
