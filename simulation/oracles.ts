/**
 * What must hold. An oracle sees every commit at the moment the database decides it, every side effect at the moment it happens,
 * every acknowledgement that a client receives and every view at the end. It knows nothing of the engine: the rules are those of
 * `docs/guarantees.md`, written again over the events alone.
 */
import { type DurableEvent, type Json, type JsonObject, textOf } from '@parlance/protocol';
import { OpenArguments } from '../packages/server/src/core/engine/open-output.ts';
import { type SessionSnapshot, snapshotOf } from '../packages/server/src/core/engine/snapshot.ts';
import { type SessionRef, sessionKey } from '../packages/server/src/core/ports/event-store.ts';
import type { Driver } from '../packages/server/src/core/ports/lease.ts';
import { checkpointOf, recordOf } from '../packages/server/src/core/session/checkpoint.ts';
import { evolve } from '../packages/server/src/core/session/evolve.ts';
import { initialState, type SessionState } from '../packages/server/src/core/session/session-state.ts';
import { isCounted, isRepeatable, MODELS, type ModelRequest, needsApproval } from './model.ts';
import type { Capabilities, Plan } from './plan.ts';
import { ProjectRules } from './project.ts';
import { RewindRules } from './rewind.ts';
import { SpendingRules } from './spending.ts';
import type { Committed } from './store.ts';
import { SubAgentRules } from './sub-agents.ts';
import type { World } from './world.ts';

export const MAX_STEPS = 4;
export const MAX_QUEUED = 4;

type Call = { readonly tool: string; started: boolean; allowed: boolean; outcome: string | null };

/** What the log of one session says, event by event. */
class SessionLogRules {
  seq = 0;
  turn: string | null = null;
  steps = 0;
  readonly ids = new Set<string>();
  readonly blocks = new Set<string>();
  /** the calls of the running turn */
  calls = new Map<string, Call>();
  readonly everyCall = new Map<string, Call>();
  readonly approvals = new Map<string, { readonly call: string; answered: boolean }>();
  readonly questions = new Map<string, { answered: boolean }>();
  /** inputs that answer a question: they join while its call is open */
  readonly replies = new Set<string>();
  readonly grants = new Set<string>();
  queue: string[] = [];
  /** inputs of sub-agents: they are never refused */
  readonly fromSubAgents = new Set<string>();
  /** those at the beginning of the queue that may join the running turn */
  readonly joining = new Set<string>();
  readonly keys = new Set<string>();

  constructor(private readonly fail: (message: string) => void) {}

  append(events: readonly DurableEvent[]): void {
    const endsEarly = events.some(({ type }) => type === 'turn.cancelled' || type === 'turn.failed');
    for (const event of events) this.#take(event, endsEarly);
    const limited = this.queue.filter((input) => !this.fromSubAgents.has(input));
    // One more is accepted if a turn starts with it, which may be that of another input.
    const isStart = events.some(
      (event) => event.type === 'turn.started' && this.fromSubAgents.has(event.input),
    );
    const isMore = events.some((event) => event.type === 'input.accepted' && event.child === undefined);
    if (isMore && limited.length > MAX_QUEUED + (isStart ? 1 : 0))
      this.fail(`${limited.length} inputs are queued, more than the limit of ${MAX_QUEUED}`);
  }

  #take(event: DurableEvent, endsEarly: boolean): void {
    if (event.seq !== this.seq + 1)
      this.fail(`event ${event.seq} follows event ${this.seq}: numbers have a gap`);
    this.seq = event.seq;
    if (this.ids.has(event.id)) this.fail(`event id ${event.id} is used twice`);
    this.ids.add(event.id);
    const isOfTurn =
      'turn' in event &&
      event.type !== 'turn.started' &&
      event.type !== 'input.accepted' &&
      event.type !== 'input.cancelled';
    if (isOfTurn && event.turn !== undefined && event.turn !== this.turn)
      this.fail(`${event.type} belongs to turn ${event.turn}, but ${this.turn ?? 'no turn'} is running`);
    switch (event.type) {
      case 'input.accepted':
        if (event.key !== undefined && this.keys.has(event.key))
          this.fail(`the input with key ${event.key} was accepted twice`);
        if (event.key !== undefined) this.keys.add(event.key);
        if (event.joins !== undefined && event.joins !== this.turn)
          this.fail(
            `input ${event.input} joins turn ${event.joins}, but ${this.turn ?? 'no turn'} is running`,
          );
        if (event.answers !== undefined) this.replies.add(event.input);
        if (event.child !== undefined) this.fromSubAgents.add(event.input);
        if (event.joins === undefined) this.queue.push(event.input);
        else {
          this.queue.splice(this.joining.size, 0, event.input);
          this.joining.add(event.input);
        }
        return;
      case 'input.joined':
        if (!this.joining.delete(event.input))
          this.fail(`input ${event.input} joins a turn twice, or without having been sent to it`);
        if (
          !this.replies.has(event.input) &&
          [...this.calls.values()].some(({ outcome }) => outcome === null)
        )
          this.fail(`input ${event.input} joins turn ${event.turn} before its calls have ended`);
        this.queue = this.queue.filter((input) => input !== event.input);
        return;
      case 'input.cancelled':
        this.joining.delete(event.input);
        this.queue = this.queue.filter((input) => input !== event.input);
        return;
      case 'turn.started':
        if (this.turn) this.fail(`turn ${event.turn} starts while ${this.turn} is running`);
        if (this.queue[0] !== event.input)
          this.fail(`the turn of input ${event.input} starts before that of ${this.queue[0] ?? 'none'}`);
        this.queue = this.queue.filter((input) => input !== event.input);
        this.joining.delete(event.input);
        this.turn = event.turn;
        this.steps = 0;
        this.calls = new Map();
        return;
      case 'text.ended':
      case 'reasoning.ended':
        if (this.blocks.has(event.block)) this.fail(`block ${event.block} ends twice`);
        this.blocks.add(event.block);
        if (event.text !== '' && !isWhole(event.text) && !endsEarly)
          this.fail(`a part of a text is stored as complete: ${event.text.slice(0, 60)}`);
        if (event.text !== '' && !/^(\[|Paused)/.test(event.text))
          this.fail(`a text is stored without its beginning: ${event.text.slice(0, 60)}`);
        return;
      case 'step.ended':
        this.steps++;
        if (this.steps > MAX_STEPS + 1)
          this.fail(`turn ${event.turn} has ${this.steps} steps, more than the limit of ${MAX_STEPS}`);
        return;
      case 'call.requested': {
        if (this.calls.has(event.call)) this.fail(`call ${event.call} is requested twice`);
        const call: Call = { tool: event.tool, started: false, allowed: false, outcome: null };
        this.calls.set(event.call, call);
        this.everyCall.set(event.call, call);
        return;
      }
      case 'approval.requested': {
        const call = this.#openCall(event.call, event.type);
        if (call?.started && !event.child)
          this.fail(`an approval is requested for call ${event.call}, which has started`);
        if (this.approvals.has(event.approval)) this.fail(`approval ${event.approval} is requested twice`);
        this.approvals.set(event.approval, { call: event.call, answered: false });
        return;
      }
      case 'approval.answered': {
        const approval = this.approvals.get(event.approval);
        if (!approval || approval.answered)
          this.fail(`approval ${event.approval} is answered ${approval ? 'twice' : 'but was not requested'}`);
        if (approval) approval.answered = true;
        if (event.answer === 'always') this.grants.add(this.calls.get(event.call)?.tool ?? '');
        const call = this.#openCall(event.call, event.type);
        if (call && event.answer !== 'deny') call.allowed = true;
        return;
      }
      case 'question.asked':
        if (this.questions.has(event.question)) this.fail(`question ${event.question} is asked twice`);
        this.questions.set(event.question, { answered: false });
        if (event.call) this.#openCall(event.call, event.type);
        return;
      case 'question.repeated':
      case 'question.answered': {
        const question = this.questions.get(event.question);
        if (!question || question.answered)
          this.fail(
            `question ${event.question} is ${question ? 'answered twice' : 'answered, but was not asked'}`,
          );
        if (question) question.answered = event.type === 'question.answered';
        if (event.call) this.#openCall(event.call, event.type);
        return;
      }
      case 'tool.started': {
        const call = this.#openCall(event.call, event.type);
        if (call?.started && !isRepeatable(call.tool))
          this.fail(`call ${event.call} of ${call.tool} starts twice`);
        if (call && needsApproval(call.tool) && !call.allowed && !this.grants.has(call.tool))
          this.fail(`call ${event.call} of ${call.tool} starts without an approval`);
        if (call) call.started = true;
        return;
      }
      case 'tool.ended': {
        const call = this.#openCall(event.call, event.type);
        if (call) call.outcome = event.outcome;
        return;
      }
      case 'turn.ended':
      case 'turn.failed':
      case 'turn.cancelled': {
        for (const [id, call] of this.calls)
          if (call.outcome === null) this.fail(`${event.type}, but call ${id} has no outcome`);
        this.turn = null;
        return;
      }
    }
  }

  #openCall(id: string, type: string): Call | undefined {
    const call = this.calls.get(id);
    if (!call) this.fail(`${type} of call ${id}, which was not requested`);
    else if (call.outcome !== null) this.fail(`${type} of call ${id}, which has the outcome ${call.outcome}`);
    return call;
  }
}

/** Only the node that drives a turn stores these. */
const isOfDriver = (event: DurableEvent): boolean =>
  event.type === 'step.ended' ||
  event.type === 'turn.ended' ||
  (event.type === 'text.ended' && !event.interrupted);

const isWhole = (text: string): boolean => /^(\[[^[\]]*\]|Paused .*)$/.test(text);

/** Failures that another model may answer after. A conversation may also be too long for it. */
const CAUSES: ReadonlySet<string> = new Set(['provider_limited', 'provider_unavailable', 'context_too_long']);

/** A message that a client has sent. */
export type SentInput = {
  readonly ref: SessionRef;
  readonly text: string;
  readonly sentAt: number;
  /** when and as which event it was acknowledged; refused: when it was */
  acked: { readonly at: number; readonly seq: number; readonly id: string } | null;
  refusedAt: number | null;
};

export class Oracles {
  readonly #sessions = new Map<string, SessionLogRules>();
  readonly #states = new Map<string, SessionState>();
  readonly #epochs = new Map<number, string>();
  /** how often the side effect of a call happened */
  readonly #effects = new Map<string, { readonly tool: string; readonly ref: SessionRef; count: number }>();
  /** by node and model: until when it is not asked */
  readonly #cooling = new Map<string, number>();
  /** by turn: the node and the model that it waits for, and since when */
  readonly #waiting = new Map<string, { readonly asked: string; readonly since: number }>();
  /** by node and model: when its last answer was stored */
  readonly #answered = new Map<string, number>();
  /** calls whose tool has thrown */
  readonly #failed = new Set<string>();
  /** ids of events that a failover has lost */
  readonly #lost = new Set<string>();
  /** calls whose start was lost in a failover, or erased */
  readonly #forgiven = new Set<string>();
  readonly inputs: SentInput[] = [];
  turns = 0;
  commits = 0;

  readonly #subAgents: SubAgentRules;
  readonly #spending: SpendingRules;
  readonly #rewinds: RewindRules;
  readonly #project: ProjectRules;

  constructor(
    private readonly world: World,
    private readonly log: (ref: SessionRef) => DurableEvent[],
    /** of sessions that name none */
    private readonly agent: SessionState['agent'],
    { nodes, faults, can }: Plan,
  ) {
    this.isShared = nodes > 1;
    this.can = can;
    const fail = (ref: SessionRef, message: string) => this.#fail(ref, message);
    this.#subAgents = new SubAgentRules(world, log, faults.length === 0, fail);
    this.#spending = new SpendingRules(can.limits ?? [], fail);
    this.#rewinds = new RewindRules(fail);
    this.#project = new ProjectRules(fail);
  }

  private readonly isShared: boolean;
  private readonly can: Capabilities;

  readonly committed = ({ ref, events, record, node, as, driver }: Committed): void => {
    this.commits++;
    this.turns += events.filter(({ type }) => type === 'turn.started').length;
    const authority = as.by === 'driver' ? `as driver ${as.epoch}` : `as command, ${as.take}`;
    this.world.trace(
      node,
      `stores ${ref.id} ${events.map((event) => `${event.seq} ${shown(event)}`).join(', ')} (${authority})`,
    );
    const driving = events.find(isOfDriver);
    if (this.isShared && driving && as.by !== 'driver')
      this.#fail(ref, `${node} stores ${driving.type} without its epoch`);
    if (driver) {
      const other = this.#epochs.get(driver.epoch);
      if (other !== undefined && other !== `${driver.node} ${ref.id}`)
        this.#fail(ref, `epoch ${driver.epoch} has two drivers: ${other} and ${driver.node} ${ref.id}`);
      this.#epochs.set(driver.epoch, `${driver.node} ${ref.id}`);
    }
    this.#checkRecord(ref, events, record);
    this.#takeModels(node, ref, events);
    this.#rules(ref).append(events);
    for (const rules of [this.#subAgents, this.#spending, this.#rewinds, this.#project])
      rules.committed(ref, events);
  };

  readonly erased = (ref: SessionRef): void => {
    this.world.trace('store', `erases ${ref.id}`);
    for (const call of this.#rules(ref).everyCall.keys()) this.#forgiven.add(call);
    this.#sessions.delete(sessionKey(ref));
    for (const [call, effect] of this.#effects)
      if (sessionKey(effect.ref) === sessionKey(ref)) this.#effects.delete(call);
    this.#forgetInputs(ref);
    this.#states.delete(sessionKey(ref));
    this.#subAgents.erased(ref);
    this.#spending.erased(ref);
    this.#rewinds.reset(ref);
    this.#project.reset(ref);
  };

  /** What the log of the session says, computed again by the same rules from its first event. */
  #stateOf(ref: SessionRef): SessionState {
    return this.#states.get(sessionKey(ref)) ?? initialState(this.agent);
  }

  /** What a node shows of the session while nothing runs. */
  shown(ref: SessionRef): SessionSnapshot {
    const state = this.#stateOf(ref);
    const { messageCount: messageCountAtIdle } = state;
    return snapshotOf({ ref, state, open: null, openArguments: new OpenArguments(), messageCountAtIdle });
  }

  /** What is stored beside the events is what all of them say: a node that decides on other events stores something else. */
  #checkRecord(
    ref: SessionRef,
    events: readonly DurableEvent[],
    { usage: _, ...record }: Committed['record'],
  ): void {
    const state = events.reduce(evolve, this.#stateOf(ref));
    this.#states.set(sessionKey(ref), state);
    const expected = recordOf(ref, state, checkpointOf(state) ?? record.checkpoint);
    const differs = difference(readable(record), readable(expected));
    if (differs)
      this.#fail(ref, `what is stored beside event ${record.head} is not what the log says: ${differs}`);
  }

  /** A message is acknowledged as one that is stored already. */
  repeated({ ref, text }: SentInput): void {
    const isStored = this.log(ref).some(
      (event) => event.type === 'input.accepted' && JSON.stringify(event.parts).includes(`"${text}"`),
    );
    if (!isStored) this.#fail(ref, `"${text}" is acknowledged as a repeated message, but is not stored`);
  }

  /** Acknowledged events are gone with the old primary: what follows is judged by the log as it is now. */
  lost(ref: SessionRef, events: readonly DurableEvent[]): void {
    this.world.trace('store', `has lost ${ref.id} ${events.map(({ seq }) => seq).join(', ')}`);
    for (const event of events) {
      this.#lost.add(event.id);
      if ('call' in event && typeof event.call === 'string') this.#forgiven.add(event.call);
    }
    this.#sessions.delete(sessionKey(ref));
    // As one append: which events were stored together is not in the log.
    this.#rules(ref).append(this.log(ref));
    const log = this.log(ref);
    this.#states.set(sessionKey(ref), log.reduce(evolve, initialState(this.agent)));
    this.#spending.lost(ref, log);
    this.#rewinds.reset(ref, log);
    this.#project.reset(ref, log);
    this.#subAgents.hasLost = true;
  }

  /**
   * Until the nodes notice a failover that has lost events, they may call models and tools for turns that are lost, but append
   * nothing to what they do not know.
   */
  suspended = false;

  happened(
    node: string,
    tool: string,
    { ref, call }: { readonly ref: SessionRef; readonly call: string },
  ): void {
    this.world.trace(node, `side effect of ${tool} ${call} in ${ref.id}`);
    const effect = this.#effects.get(call) ?? { tool, ref, count: 0 };
    this.#effects.set(call, effect);
    effect.count++;
    if (this.#forgiven.has(call) || this.suspended) return;
    if (this.can.rewinds > 0) this.#rewinds.happened(ref, tool, call);
    const known = this.#sessions.get(sessionKey(ref))?.everyCall.get(call);
    if (!known?.started)
      this.#fail(ref, `the side effect of call ${call} happens before its start is stored`);
    if (effect.count > 1 && !isRepeatable(tool))
      this.#fail(ref, `the side effect of call ${call} happens ${effect.count} times`);
  }

  /** What a call may change is stored. */
  stored(call: string): void {
    this.#rewinds.stored(call);
  }

  restored(node: string, ref: SessionRef, rewind: string): void {
    this.world.trace(node, `restores files of ${ref.id} for rewind ${rewind}`);
    this.#rewinds.restored(ref, this.log(ref), rewind);
  }

  /** The call throws after its side effect. */
  failed(call: string): void {
    this.#failed.add(call);
  }

  /** Only the driver of a turn calls the model for it, and the model reads the message that it answers. */
  modelCalled(
    node: string,
    driver: Driver | null,
    { ref, turn, model, prompt, now }: ModelRequest & { readonly now: number },
  ): void {
    const log = this.log(ref);
    const isCurrent = !this.suspended && this.#sessions.get(sessionKey(ref))?.turn === turn;
    if (isCurrent) this.#checkModel(node, { ref, model, now, log });
    this.#waiting.set(turn, { asked: `${node} ${model}`, since: this.world.now });
    if (this.isShared && isCurrent && driver?.node !== node)
      this.#fail(ref, `${node} calls the model for a turn that ${driver?.node ?? 'nobody'} drives`);
    const started = log.find((event) => event.type === 'turn.started' && event.turn === turn);
    const input = log.find(
      (event) =>
        event.type === 'input.accepted' && started?.type === 'turn.started' && event.input === started.input,
    );
    const text = input?.type === 'input.accepted' && !input.call ? textOf(input.parts) : '';
    if (isCurrent) this.#spending.modelCalled(ref);
    if (isCurrent) this.#project.modelCalled(ref, turn, prompt);
    if (isCurrent && !JSON.stringify(prompt.items).includes(JSON.stringify(text).slice(1, -1)))
      this.#fail(ref, `the model is asked without the message that it answers: ${text}`);
  }

  /** Whatever becomes of the step: its node may pass over the model from now on. */
  modelFailed(node: string, model: string): void {
    const key = `${node} ${model}`;
    if (!this.#cooling.has(key)) this.#cooling.set(key, 0);
  }

  /**
   * Readers are told before another model answers; a model that failed is not asked again in the same step, nor by its node while it
   * cools down and the other one is well.
   */
  #checkModel(
    node: string,
    { ref, model, now, log }: Pick<ModelRequest, 'ref' | 'model'> & { now: number; log: DurableEvent[] },
  ): void {
    const [first] = MODELS;
    const fallbacksAfter = (...types: DurableEvent['type'][]) =>
      log
        .slice(log.findLastIndex(({ type }) => types.includes(type)))
        .flatMap((event) => (event.type === 'step.restarted' && event.fallback ? [event.fallback] : []));
    const fallback = fallbacksAfter('turn.started').at(-1);
    if (model !== first && fallback?.model !== model)
      this.#fail(ref, `${model} is asked, but readers were not told`);
    const passed = fallbacksAfter('turn.started', 'step.ended').flatMap((one) => one.passed);
    if (passed.some((one) => one.model === model && one.reason === 'failed'))
      this.#fail(ref, `${model} is asked again in the step that it failed in`);
    const until = this.#cooling.get(`${node} ${model}`) ?? 0;
    const other = MODELS.find((one) => one !== model) ?? '';
    const isOtherWell =
      !this.#cooling.has(`${node} ${other}`) && !fallback?.passed.some((one) => one.model === other);
    // Another step of the node may know more of a model, and not have stored it yet.
    const isAsked = [...this.#waiting.values()].some(({ asked }) => asked.startsWith(`${node} `));
    if (until > now && isOtherWell && !isAsked)
      this.#fail(ref, `${node} asks ${model}, which cools down until ${until}`);
  }

  /** What a node knows of its models, as far as its log tells. */
  #takeModels(node: string, ref: SessionRef, events: readonly DurableEvent[]): void {
    for (const event of events) {
      const since = 'turn' in event ? this.#waiting.get(`${event.turn}`)?.since : undefined;
      if (/^(step|turn)\.(ended|restarted|failed|cancelled|resumed)$/.test(event.type) && 'turn' in event)
        this.#waiting.delete(`${event.turn}`);
      if (event.type === 'step.ended' && event.model !== undefined) {
        this.#cooling.delete(`${node} ${event.model}`);
        this.#answered.set(`${node} ${event.model}`, this.world.now);
      }
      // Both have failed; the log does not say which of them last.
      else if (event.type === 'turn.failed' && CAUSES.has(event.fault.code))
        for (const model of MODELS) this.#cooling.set(`${node} ${model}`, 0);
      else if (event.type === 'step.restarted' && event.fallback) {
        if (!CAUSES.has(event.fault.code))
          this.#fail(ref, `the model changes after ${event.fault.code}, which is not an outage`);
        for (const { model, reason, until = 0 } of event.fallback.passed) {
          // It may have answered another step after it has failed in this one.
          const isSure = (this.#answered.get(`${node} ${model}`) ?? 0) < (since ?? 0);
          if (reason === 'failed') this.#cooling.set(`${node} ${model}`, isSure ? until : 0);
        }
      }
    }
  }

  /** At the end: acknowledged messages are stored once and in order, refused ones are not, outcomes tell the truth. */
  finish(refs: readonly SessionRef[], spent: number): void {
    for (const input of this.inputs) this.#checkInput(input);
    this.#subAgents.finish(refs);
    this.#rewinds.finish(refs);
    if (this.can.limits && spent !== this.#spending.total)
      this.world.violate(`${this.#spending.total} tokens were used, but ${spent} are counted`);
    for (const ref of refs) {
      this.#checkOrder(ref);
      for (const [id, { tool, started, outcome }] of this.#rules(ref).everyCall) {
        if (!isCounted(tool) || this.#forgiven.has(id)) continue;
        const count = this.#effects.get(id)?.count ?? 0;
        if (outcome === 'ok' && this.#failed.has(id) && !isRepeatable(tool))
          this.#fail(ref, `call ${id} has failed, but its outcome is ok`);
        if (outcome === 'ok' && count === 0)
          this.#fail(ref, `call ${id} ended ok, but its side effect did not happen`);
        if ((!started || outcome === 'denied') && count > 0)
          this.#fail(ref, `call ${id} did not start, but its side effect happened`);
      }
    }
  }

  #checkInput({ ref, text, acked, refusedAt }: SentInput): void {
    const stored = this.log(ref).filter(
      (event) => event.type === 'input.accepted' && JSON.stringify(event.parts).includes(`"${text}"`),
    );
    const isKept = acked && !this.#lost.has(acked.id);
    if (isKept && stored.length === 0) this.#fail(ref, `the acknowledged message "${text}" is lost`);
    if (isKept && stored.length > 0 && stored[0]?.seq !== acked.seq)
      this.#fail(ref, `"${text}" was acknowledged as event ${acked.seq}, but is event ${stored[0]?.seq}`);
    if (stored.length > 1) this.#fail(ref, `the message "${text}" is stored ${stored.length} times`);
    if (refusedAt !== null && stored.length > 0)
      this.#fail(ref, `the message "${text}" was refused, but is stored`);
  }

  /** If one message was acknowledged before another was sent, it comes first. */
  #checkOrder(ref: SessionRef): void {
    const acked = this.inputs.filter(
      (input) => sessionKey(input.ref) === sessionKey(ref) && input.acked && !this.#lost.has(input.acked.id),
    );
    for (const one of acked)
      for (const other of acked)
        if (one.acked && other.acked && one.acked.at < other.sentAt && one.acked.seq > other.acked.seq)
          this.#fail(
            ref,
            `"${one.text}" was acknowledged before "${other.text}" was sent, but is stored after it`,
          );
  }

  #forgetInputs(ref: SessionRef): void {
    for (const [index, input] of [...this.inputs.entries()].reverse())
      if (sessionKey(input.ref) === sessionKey(ref)) this.inputs.splice(index, 1);
  }

  #rules(ref: SessionRef): SessionLogRules {
    const known = this.#sessions.get(sessionKey(ref));
    if (known) return known;
    const rules = new SessionLogRules((message) => this.#fail(ref, message));
    this.#sessions.set(sessionKey(ref), rules);
    return rules;
  }

  #fail(ref: SessionRef, message: string): void {
    this.world.violate(`${ref.id}: ${message}`);
  }
}

/** The first place where two values differ; empty if they are alike. */
export function difference(one: unknown, other: unknown, path = ''): string {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return Object.is(one, other)
      ? ''
      : `${path || 'it'} is ${JSON.stringify(one)?.slice(0, 80)} instead of ${JSON.stringify(other)?.slice(0, 80)}`;
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const found = difference(
      (one as Record<string, unknown>)[key],
      (other as Record<string, unknown>)[key],
      `${path}.${key}`,
    );
    if (found) return found;
  }
  return '';
}

/** With the state of the checkpoint in words, as JSON stores it. */
const readable = ({ checkpoint, ...record }: Omit<Committed['record'], 'usage'>): Json =>
  JSON.parse(JSON.stringify({ ...record, ...(checkpoint && { state: JSON.parse(checkpoint.state) }) }));

/** An event in a few words. */
function shown(event: DurableEvent): string {
  const { call, text, approval, outcome, parts, answer } = event as DurableEvent & JsonObject;
  const input = event.type === 'input.accepted' ? JSON.stringify(parts).slice(0, 60) : undefined;
  return [
    event.type,
    call,
    approval && String(approval).slice(-4),
    outcome,
    answer,
    typeof text === 'string' ? text.slice(0, 24) : undefined,
    input,
  ]
    .filter((one) => typeof one === 'string')
    .join(' ');
}
