/**
 * Sub-agents (O14): a session that a call has started exists once and is given its task once, its outcome reaches its parent once and is
 * what it said, what it asks is answered in both sessions alike, and what was cancelled stops.
 */
import { type DurableEvent, textOf } from '@parlance/protocol';
import { type SessionRef, sessionKey } from '../packages/server/src/core/ports/event-store.ts';
import type { World } from './world.ts';

/** A sub-agent, as the log of its parent shows it. */
type Child = {
  /** the turn of the parent that has given it its last task */
  turn: string;
  state: 'working' | 'done' | 'stopping';
  /** what it had to do for its parent when it was to stop */
  tasks: readonly string[];
};

type Of<Type extends DurableEvent['type']> = Extract<DurableEvent, { type: Type }>;

const isOver = (event: DurableEvent): event is Of<'turn.ended' | 'turn.failed' | 'turn.cancelled'> =>
  event.type === 'turn.ended' || event.type === 'turn.failed' || event.type === 'turn.cancelled';

/** How long a cancel may take to reach the sub-agents, if nothing fails. */
const CASCADE_MS = 5_000;

export class SubAgentRules {
  /** by call of the parent: the input that has its task */
  readonly #tasks = new Map<string, string>();
  /** turns of sub-agents that their parents know of */
  readonly #reported = new Set<string>();
  readonly #cancelledAt = new Map<string, number>();
  /** by parent and sub-agent */
  readonly #children = new Map<string, Map<string, Child>>();
  /** Set it if acknowledged events were lost: parents and sub-agents may contradict each other then. */
  hasLost = false;

  constructor(
    private readonly world: World,
    private readonly log: (ref: SessionRef) => DurableEvent[],
    /** no faults are planned */
    private readonly isCalm: boolean,
    private readonly fail: (ref: SessionRef, message: string) => void,
  ) {}

  /** Call after the events are in the log. */
  committed(ref: SessionRef, events: readonly DurableEvent[]): void {
    if (this.hasLost) return;
    for (const event of events) {
      this.#take(ref, event);
      this.#takeChild(ref, event);
    }
  }

  erased(ref: SessionRef): void {
    this.#children.delete(sessionKey(ref));
  }

  /** A sub-agent works for a call until its outcome is told; if the turn of the call is cancelled before, or a call says so, it stops. */
  #takeChild(ref: SessionRef, event: DurableEvent): void {
    const children = this.#children.get(sessionKey(ref)) ?? new Map<string, Child>();
    this.#children.set(sessionKey(ref), children);
    const stop = (id: string, child: Child | undefined) => {
      if (child?.state !== 'working') return;
      child.state = 'stopping';
      child.tasks = this.log({ owner: ref.owner, id: id as SessionRef['id'] }).flatMap((one) =>
        one.type === 'input.accepted' && one.reportTo ? [one.input] : [],
      );
    };
    switch (event.type) {
      case 'tool.started':
        if (event.child && event.child.does !== 'wait')
          children.set(event.child.session, { turn: event.turn, state: 'working', tasks: [] });
        return;
      case 'tool.ended':
        if (event.child) children.delete(event.child.session);
        else if (event.stops) stop(event.stops, children.get(event.stops));
        return;
      case 'input.accepted': {
        const child = event.child && children.get(event.child.session);
        if (child && child.state !== 'stopping') child.state = event.child?.turn ? 'done' : 'working';
        return;
      }
      case 'turn.cancelled':
        for (const [id, child] of children) if (child.turn === event.turn) stop(id, child);
        return;
      case 'child.stopped': {
        const log = this.log({ owner: ref.owner, id: event.child });
        for (const input of children.get(event.child)?.tasks ?? [])
          if (!isSettled(log, input))
            this.fail(ref, `${event.child} counts as stopped, but still has to answer input ${input}`);
        children.delete(event.child);
        return;
      }
    }
  }

  #take(ref: SessionRef, event: DurableEvent): void {
    const fail = (message: string) => this.fail(ref, message);
    const sibling = (id: SessionRef['id']): SessionRef => ({ owner: ref.owner, id });
    switch (event.type) {
      case 'session.created': {
        if (!event.parent) return;
        const isNamed = this.log(sibling(event.parent.session)).some(
          (one) => one.type === 'tool.started' && one.child?.session === ref.id && one.child.does === 'spawn',
        );
        if (!isNamed) fail('the sub-agent exists, but no call of its parent has started it');
        return;
      }
      case 'input.accepted': {
        if (event.reportTo) {
          const { turn, call } = event.reportTo;
          const task = `${sessionKey(ref)} ${event.input}`;
          const known = this.#tasks.get(`${turn} ${call}`);
          if (known !== undefined && known !== task)
            fail(`call ${call} has given its task twice: ${known} and ${task}`);
          this.#tasks.set(`${turn} ${call}`, task);
        }
        if (event.child?.turn !== undefined)
          this.#report(ref, sibling(event.child.session), event.child.turn);
        return;
      }
      case 'tool.ended': {
        if (!event.child) return;
        const child = sibling(event.child.session);
        this.#report(ref, child, event.child.turn);
        const { outcome, text } = outcomeOf(this.log(child), event.child.turn);
        if (outcome !== event.outcome)
          fail(`call ${event.call} is ${event.outcome}, but the turn of ${child.id} was ${outcome}`);
        const said = textOf(event.parts);
        if (outcome === 'ok' && !said.endsWith(text))
          fail(`call ${event.call} says "${said}", but ${child.id} has said "${text}"`);
        return;
      }
      case 'approval.requested': {
        if (event.child && !requested(this.log(sibling(event.child.session)), event.approval))
          fail(`approval ${event.approval} is not one of ${event.child.session}`);
        return;
      }
      case 'approval.answered': {
        if (!event.child) return;
        const own = this.log(sibling(event.child.session)).find(
          (one) => one.type === 'approval.answered' && one.approval === event.approval,
        );
        if (!own) this.#checkOver(ref, sibling(event.child.session), event.approval);
        const given = own?.type === 'approval.answered' ? own.answer : 'deny';
        if (given !== event.answer)
          fail(
            `approval ${event.approval} is "${event.answer}" here and "${given}" in ${event.child.session}`,
          );
        return;
      }
      case 'turn.cancelled':
        this.#cancelledAt.set(event.turn, this.world.now);
        return;
      case 'parent.informed':
        if (event.waits !== null) this.#checkShown(ref, event.waits);
        return;
      case 'step.ended': {
        const { reportTo } = inputOf(this.log(ref), event.turn) ?? {};
        const at = reportTo && !reportTo.background ? this.#cancelledAt.get(reportTo.turn) : undefined;
        if (this.isCalm && at !== undefined && this.world.now - at > CASCADE_MS)
          fail(`works for turn ${reportTo?.turn}, which was cancelled ${this.world.now - at} ms ago`);
        return;
      }
    }
  }

  /** What nobody has answered is answered for the parent when the turn that asks is over. */
  #checkOver(ref: SessionRef, child: SessionRef, approval: string): void {
    const log = this.log(child);
    const asked = log.find((event) => event.type === 'approval.requested' && event.approval === approval);
    if (asked?.type !== 'approval.requested') return;
    const isOpen = !log.some(
      (event) =>
        (isOver(event) && event.turn === asked.turn) ||
        (event.type === 'tool.ended' && event.call === asked.call),
    );
    if (isOpen) this.fail(ref, `approval ${approval} is answered here, but still waits in ${child.id}`);
  }

  /** A call that waits for the sub-agent since it was started shows what the sub-agent counts as shown. */
  #checkShown(ref: SessionRef, waits: string): void {
    const [created] = this.log(ref);
    if (created?.type !== 'session.created' || !created.parent) return;
    const above = this.log({ owner: ref.owner, id: created.parent.session });
    const isOpen = (call: string, turn: string) =>
      !above.some(
        (event) =>
          (event.type === 'tool.ended' && event.call === call) || (isOver(event) && event.turn === turn),
      );
    const waiting = above.some(
      (event) =>
        event.type === 'tool.started' &&
        event.child?.session === ref.id &&
        event.child.does !== 'wait' &&
        !event.child.background &&
        isOpen(event.call, event.turn),
    );
    const shown = above.flatMap((event) =>
      event.type === 'approval.requested' && event.child
        ? [event.approval as string]
        : event.type === 'question.asked' && event.child
          ? [event.question as string]
          : [],
    );
    if (waiting && !shown.includes(waits))
      this.fail(ref, `${waits} counts as shown in ${created.parent.session}, but is not`);
  }

  #report(ref: SessionRef, child: SessionRef, turn: string): void {
    const key = `${sessionKey(child)} ${turn}`;
    if (this.#reported.has(key))
      this.fail(ref, `the outcome of turn ${turn} of ${child.id} is reported twice`);
    this.#reported.add(key);
  }

  /** At the end: what sub-agents were asked for by calls that still wanted it, their parents have. */
  finish(refs: readonly SessionRef[]): void {
    for (const ref of this.hasLost ? [] : refs) {
      for (const [id, { state, turn }] of this.#children.get(sessionKey(ref)) ?? [])
        if (state === 'stopping')
          this.fail(ref, `${id} was to stop, which works for turn ${turn}, but was never stopped`);
      const log = this.log(ref);
      const [created] = log;
      if (created?.type !== 'session.created' || !created.parent) continue;
      const above = this.log({ owner: ref.owner, id: created.parent.session });
      for (const input of log) {
        if (input.type !== 'input.accepted' || !input.reportTo) continue;
        const { turn, call, background } = input.reportTo;
        const own = log.find((event) => event.type === 'turn.started' && event.input === input.input);
        if (own?.type !== 'turn.started' || this.#reported.has(`${sessionKey(ref)} ${own.turn}`)) continue;
        const { outcome } = outcomeOf(log, own.turn);
        const isUnwanted = background
          ? outcome === 'failed' ||
            above.some((event) => event.type === 'child.stopped' && event.child === ref.id)
          : above.some(
              (event) =>
                (isOver(event) && event.turn === turn && event.type !== 'turn.ended') ||
                (event.type === 'tool.ended' && event.turn === turn && event.call === call),
            );
        if (!isUnwanted)
          this.fail(ref, `its parent was never told of turn ${own.turn} (${outcome}), for call ${call}`);
      }
    }
  }
}

const requested = (log: readonly DurableEvent[], approval: string): boolean =>
  log.some((event) => event.type === 'approval.requested' && event.approval === approval);

/** The input that has started the turn. */
function inputOf(log: readonly DurableEvent[], turn: string): Of<'input.accepted'> | undefined {
  const started = log.find((event) => event.type === 'turn.started' && event.turn === turn);
  return log.find(
    (event): event is Of<'input.accepted'> =>
      event.type === 'input.accepted' && started?.type === 'turn.started' && event.input === started.input,
  );
}

/** Whether the input was answered or cancelled. */
function isSettled(log: readonly DurableEvent[], input: string): boolean {
  const about = log.filter((event) => 'input' in event && event.input === input);
  if (about.some(({ type }) => type === 'input.cancelled')) return true;
  const began = about.find((event) => event.type === 'turn.started' || event.type === 'input.joined');
  return began !== undefined && log.some((event) => isOver(event) && event.turn === began.turn);
}

/** How the turn has ended, and the last text of it. */
function outcomeOf(log: readonly DurableEvent[], turn: string): { outcome: string; text: string } {
  const events = log.filter((event) => 'turn' in event && event.turn === turn);
  const end = events.find((event) => isOver(event) || event.type === 'input.cancelled');
  const last = events.findLast((event) => event.type === 'text.ended');
  return {
    outcome: end?.type === 'turn.ended' ? 'ok' : end ? 'failed' : 'not over',
    text: last?.type === 'text.ended' ? last.text : '(no answer)',
  };
}
