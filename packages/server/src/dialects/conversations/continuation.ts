/** How far a closed socket has read a conversation, and its continuation on another node. */
import { BlockId, type DurableEvent, PrincipalId, SessionId, TurnId } from '@parlance/protocol';
import { z } from 'zod';
import type { Engine, ObservedSession, SessionRecord } from '../../core/api/index.ts';
import type { Cursor, FrameFilter } from '../shared/subscription-hub.ts';
import type { Body } from './bodies.ts';
import type { Mailbox } from './mailbox.ts';
import { pieces, type State, startOf, step } from './projection.ts';
import { BETWEEN_BLOCKS } from './state.ts';

/** The last event whose frames were sent, and the text of the open block that was sent. */
export const Position = z.object({
  seq: z.number(),
  /** first event that the projection needs */
  since: z.number(),
  open: z.object({ turn: TurnId, block: BlockId, text: z.string() }).nullable(),
});
export type Position = z.output<typeof Position>;

/** `unsent` frames come first; later ones are made from the log. */
export const ClosedSocket = z.object({
  owner: PrincipalId,
  id: SessionId,
  unsent: z.array(z.looseObject({ type: z.string() })),
  position: Position,
});
export type ClosedSocket = z.output<typeof ClosedSocket>;

export function positionOf(session: ObservedSession): Position {
  const { seq, open } = session.snapshot();
  const since = session.eventsSinceIdle()[0]?.seq ?? seq + 1;
  const isText = open?.kind === 'text';
  return { seq, since, open: isText ? { turn: open.turn, block: open.block, text: open.text } : null };
}

const PAGE = 500;

type Target = { readonly mailbox: Mailbox; readonly record: SessionRecord };

/** Fills a mailbox with the frames after a position, while the hub subscribes the mailbox. */
export class Continuation implements Cursor {
  private readonly mailbox: Mailbox;
  #state: State;
  #seq: number;
  /** the part of the open block that the client has; null once the block has ended */
  #open: Position['open'];

  private constructor(
    private readonly engine: Pick<Engine, 'events'>,
    private readonly closed: ClosedSocket,
    { mailbox, record }: Target,
  ) {
    const { position } = closed;
    this.mailbox = mailbox;
    this.#state = startOf(record);
    this.#seq = position.since - 1;
    this.#open = position.open;
  }

  static async open(
    engine: Pick<Engine, 'events'>,
    closed: ClosedSocket,
    target: Target,
  ): Promise<Continuation> {
    const made = new Continuation(engine, closed, target);
    for (const body of closed.unsent) made.#send([body as Body]);
    await made.#read(closed.position.seq, () => undefined);
    const { open } = closed.position;
    if (open) made.#step({ ...open, type: 'text.delta', id: '', session: closed.id, at: 0 });
    return made;
  }

  get seq(): number {
    return this.#seq;
  }

  catchUp(head: number): Promise<void> {
    return this.#read(head, (bodies) => this.#send(bodies));
  }

  /** Filters the frames for a new subscriber: sends the part of the answer that the client does not have. */
  readonly shown: FrameFilter = (given) => {
    const body = given as Body;
    if (body.type !== 'message_chunk') return false;
    const texts = this.#open ? [...this.#state.texts, this.#open.text] : this.#state.texts;
    const known = this.#state.message === pieces.key(body) ? texts.join(BETWEEN_BLOCKS) : '';
    const rest = pieces.text(body).slice(known.length);
    if (rest !== '') this.#send([pieces.with(body, rest)]);
    return false;
  };

  async #read(head: number, frames: (bodies: Body[]) => void): Promise<void> {
    const { owner, id } = this.closed;
    while (this.#seq < head) {
      const page = await this.engine.events({ owner, id }, this.#seq, Math.min(PAGE, head - this.#seq));
      if (page.length === 0) return;
      for (const event of page) {
        frames([...this.#missingOf(event), ...this.#step(event)]);
        this.#seq = event.seq;
      }
    }
  }

  /**
   * The end of a block does not repeat its text: returns the part of an open block that the client does not
   * have.
   */
  #missingOf(event: DurableEvent): Body[] {
    const open = this.#open;
    if (!open || event.seq <= this.closed.position.seq) return [];
    if (event.type === 'step.restarted' || event.type === 'turn.resumed') this.#open = null;
    if (event.type !== 'text.ended' || event.block !== open.block) return [];
    this.#open = null;
    const text = event.text.slice(open.text.length);
    if (text === '') return [];
    return this.#step({ ...open, type: 'text.delta', text, id: '', session: this.closed.id, at: 0 });
  }

  #step(event: Parameters<typeof step>[1]): Body[] {
    const [state, frames] = step(this.#state, event);
    this.#state = state;
    return frames.map(({ body }) => body);
  }

  #send(bodies: readonly Body[]): void {
    for (const body of bodies) this.mailbox.send(JSON.stringify(body), body);
  }
}
