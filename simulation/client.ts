/**
 * A client: a person with a chat window, in the words of the native protocol. It reads through the real event stream and the SDK's
 * own cursor and view; it loses its connection, comes back at another node, repeats what was not acknowledged, answers approvals
 * that others may answer too, and runs browser tools until it vanishes.
 */
import {
  type ApprovalId,
  type CallId,
  type CommandInput,
  Fault,
  LOCAL,
  type Principal,
  type SessionId,
  textPart,
} from '@parlance/protocol';
import { Cursor, type SessionStreamEvent } from '../packages/sdk/src/cursor.ts';
import { EMPTY, fold, type SessionView } from '../packages/sdk/src/view.ts';
import { type SessionRef, sessionKey } from '../packages/server/src/core/index.ts';
import type { OpenQuestion } from '../packages/server/src/core/session/session-state.ts';
import { streamEvents } from '../packages/server/src/dialects/native/streams.ts';
import type { EventStream } from '../packages/server/src/http/connection.ts';
import { connectionId, type SimulatedNode } from './node.ts';
import type { Oracles, SentInput } from './oracles.ts';
import type { Plan } from './plan.ts';
import type { Random } from './random.ts';
import { OWN_LIMITS } from './spending.ts';
import { Process, type World } from './world.ts';

const LATENCY_MS = 4;
const TIMEOUT_MS = 30_000;
/** Longer than any request waits for another node or the database. */
const UNANSWERED_MS = 60_000;

export type ClientParts = {
  readonly world: World;
  readonly oracles: Oracles;
  /** the nodes that accept connections */
  readonly nodes: () => readonly SimulatedNode[];
  /** whether an unavailable store means that nothing was written */
  readonly isRefusal: (fault: Fault) => boolean;
  /** whether acknowledged events may have been lost in a failover */
  readonly mayForget: () => boolean;
  /** reads may fail, and a driver then answers from memory */
  readonly mayLag: () => boolean;
};

type Said = { readonly sent: SentInput; readonly command: CommandInput; readonly key: string };

type Outcome<Value> = { readonly value: Value } | { readonly fault: Fault } | 'unknown';

export class Client {
  readonly process: Process;
  readonly random: Random;
  readonly watchers: Watcher[];
  #node: SimulatedNode | null = null;
  #sent = 0;
  /** requests that have no answer yet */
  readonly #asked = new Set<{ readonly node: SimulatedNode; readonly at: number }>();
  #stopped = false;
  readonly #said: Said[] = [];
  /** sub-agents that it has written to: nobody else is asked what they ask then */
  readonly #subAgents: SessionRef[] = [];
  /** number of the last event that this client knows to be stored, by session */
  readonly #known = new Map<string, number>();

  constructor(
    readonly parts: ClientParts,
    readonly name: string,
    readonly refs: readonly SessionRef[],
    readonly options: Pick<Plan, 'about' | 'erases' | 'uses' | 'can'> & { readonly pace: number },
  ) {
    this.process = new Process(parts.world, name);
    this.random = this.process.random;
    this.watchers = refs.map((ref) => new Watcher(this, ref));
    void this.#live();
  }

  get principal(): Principal {
    return { ...LOCAL, id: this.refs[0]?.owner ?? LOCAL.id };
  }

  /** Sends no more messages; from now on it only answers what waits for a person. */
  stop(): void {
    this.#stopped = true;
  }

  /** At the end: a node has answered every request, however late. */
  checkAnswered(): void {
    const { world } = this.parts;
    for (const { node, at } of this.#asked)
      if (!node.process.ended && world.now - at > UNANSWERED_MS)
        world.violate(
          `${node.name} has not answered a request of ${this.name} of ${(at / 1_000).toFixed(3)} s`,
        );
  }

  async #live(): Promise<void> {
    for (;;) {
      await this.process.sleep(this.random.latency(this.#stopped ? 300 : this.options.pace));
      const ref = this.random.pick(this.refs);
      if (this.#stopped) for (const one of [...this.refs, ...this.#subAgents]) await this.#answerAll(one);
      else await this.#act(ref);
    }
  }

  async #act(ref: SessionRef): Promise<void> {
    const { random } = this;
    const { can, uses, erases, about } = this.options;
    const { subAgents, limits, rewinds } = can;
    const others = [
      ...(about === 'failovers' ? [() => this.#repeat()] : []),
      ...(subAgents ? [() => this.#visit(ref)] : []),
      ...(rewinds ? [() => this.#rewind(ref)] : []),
      ...(limits
        ? [() => this.#send(ref, { type: 'session.configure', limit: random.pick(OWN_LIMITS) })]
        : []),
    ];
    if (others.length > 0 && random.chance(uses)) return void (await random.pick(others)());
    const action = random.unit();
    if (action < 0.34) await this.#say(ref);
    else if (action < 0.6) await this.#answerAll(ref);
    else if (action < 0.66) await this.#send(ref, { type: 'turn.cancel' });
    else if (action < 0.72)
      await this.#send(ref, { type: 'session.rename', title: `title ${random.between(1, 99)}` });
    else if (action < 0.74)
      await this.#send(ref, { type: 'session.tag', tags: [`tag${random.between(1, 9)}`] });
    else if (action < 0.76) await this.#send(ref, { type: 'context.compact' });
    else if (action < 0.77) await this.#send(ref, { type: 'session.clear' });
    else if (action < 0.79) await this.#send(ref, { type: 'approval.explain' });
    else if (action < 0.84) await this.#read(ref);
    else if (action < 0.84 + erases) await this.#call((node) => node.engine.erase(ref, this.#caller(node)));
    else if (action < 0.93) this.#reconnect();
    else if (action < 0.97) for (const watcher of this.watchers) watcher.disconnect();
    else await this.#browse();
  }

  #caller(node: SimulatedNode, key?: string) {
    const via = connectionId(`${this.name}@${node.name}`);
    return {
      principal: this.principal,
      dialect: 'native',
      via,
      ...(key !== undefined && { key, keyOnce: true }),
    };
  }

  /** The node that the client talks to; another one if it is gone, and sometimes without a reason. */
  #home(): SimulatedNode | null {
    const nodes = this.parts.nodes();
    if (nodes.length === 0) return null;
    if (!this.#node?.up || this.random.chance(0.1)) this.#node = this.random.pick(nodes);
    return this.#node;
  }

  /** One request: it may arrive, and its answer may come back. */
  #call<Value>(work: (node: SimulatedNode) => Promise<Value>): Promise<Outcome<Value>> {
    const { world } = this.parts;
    const node = this.#home();
    const { promise, resolve } = Promise.withResolvers<Outcome<Value>>();
    if (!node) return Promise.resolve('unknown');
    const settle = (outcome: Outcome<Value>) =>
      world.after(this.random.latency(LATENCY_MS), () => resolve(outcome), this.process);
    const end = node.onEnded(() => settle('unknown'));
    const asked = { node, at: world.now };
    this.#asked.add(asked);
    world.after(TIMEOUT_MS, () => resolve('unknown'), this.process);
    world.after(
      this.random.latency(LATENCY_MS),
      () => {
        work(node)
          .finally(() => this.#asked.delete(asked))
          .then(
            (value) => {
              if (this.random.chance(0.03)) return;
              settle({ value });
            },
            (thrown) => {
              if (!(thrown instanceof Fault))
                world.violate(
                  `${node.name} answers ${this.name} with ${thrown instanceof Error ? thrown.stack : thrown}`,
                );
              else settle({ fault: thrown });
            },
          );
      },
      node.process,
    );
    return promise.finally(end);
  }

  async #send(ref: SessionRef, command: CommandInput): Promise<Outcome<unknown>> {
    const outcome = await this.#call((node) => node.engine.send(ref, command, this.#caller(node)));
    if (typeof outcome === 'object' && 'value' in outcome) this.#learn(ref, outcome.value.seq);
    return outcome;
  }

  #learn(ref: SessionRef, seq: number): void {
    this.#known.set(sessionKey(ref), Math.max(seq, this.#known.get(sessionKey(ref)) ?? 0));
  }

  /** Sends a message with a key, again until it knows what became of it, at most a few times. */
  async #say(ref: SessionRef, answers = false): Promise<void> {
    const { world, oracles } = this.parts;
    const text = `${this.name} says ${++this.#sent}`;
    const mode = this.random.chance(0.2) ? 'supersede' : this.random.chance(0.25) ? 'steer' : 'queue';
    const key = `${this.name}-${this.#sent}`;
    const asks = mode === 'queue' && !answers && this.options.can.instructions && this.random.chance(0.8);
    const project = asks ? ({ project: 'ask' } as const) : {};
    const sent: SentInput = { ref, text, sentAt: world.now, acked: null, refusedAt: null };
    oracles.inputs.push(sent);
    const parts = [textPart(text)];
    const command: CommandInput = { type: 'input.submit', parts, mode, answers, ...project };
    this.#said.push({ sent, command, key });
    await this.#submit({ sent, command, key });
  }

  /** Sends an earlier message again, long after it was acknowledged: it is stored again only if it was lost. */
  async #repeat(): Promise<void> {
    const said = this.#said.filter(({ sent }) => sent.acked).slice(-5);
    if (said.length > 0) await this.#submit(this.random.pick(said));
  }

  async #submit({ sent, command, key }: Said): Promise<void> {
    const { world, oracles, isRefusal } = this.parts;
    const { ref, text } = sent;
    let isUnsure = sent.acked !== null;
    for (let attempt = 0; attempt < 4; attempt++) {
      const outcome = await this.#call((node) =>
        node.engine.send(ref, command, this.#caller(node, key)).then((receipt) => {
          const isRepeated = !receipt.events.some(({ type }) => type === 'input.accepted');
          // A node that has not noticed a failover yet may not know what was lost.
          if (isRepeated && node.hasNoticed && this.options.erases === 0) oracles.repeated(sent);
          return receipt;
        }),
      );
      if (outcome === 'unknown') {
        isUnsure = true;
        continue;
      }
      if ('fault' in outcome) {
        const { fault } = outcome;
        world.trace(this.name, `is refused "${text}": ${fault.code}`);
        if (isRefusal(fault)) {
          if (!isUnsure) sent.refusedAt = world.now;
          return;
        }
        isUnsure = true;
        await this.process.sleep(this.random.latency(200));
        continue;
      }
      const { events, seq } = outcome.value;
      this.#learn(ref, seq);
      const accepted = events.find(({ type }) => type === 'input.accepted');
      if (accepted) sent.acked = { at: world.now, seq: accepted.seq, id: accepted.id };
      world.trace(this.name, `is acknowledged "${text}" at ${ref.id} ${accepted?.seq ?? 'repeated'}`);
      return;
    }
  }

  /** Answers what waits for a person, as this client sees it: others may have answered. */
  async #answerAll(ref: SessionRef): Promise<void> {
    const seen = await this.#call((node) => node.engine.snapshot(ref));
    if (typeof seen !== 'object' || !('value' in seen)) return;
    const { approvals, deferred, questions } = seen.value;
    for (const { approval } of approvals)
      if (this.#stopped || this.random.chance(0.7)) await this.#answer(ref, approval);
    for (const question of questions)
      if (this.#stopped || this.random.chance(0.7)) await this.#reply(ref, question);
    for (const { call } of deferred)
      if (this.#stopped || this.random.chance(0.7)) await this.#answerCall(ref, call);
  }

  async #answer(ref: SessionRef, approval: ApprovalId): Promise<void> {
    const answer = this.random.pick(['once', 'once', 'once', 'always', 'deny'] as const);
    const exit = this.random.chance(0.1);
    const command = { answer, exit: answer === 'deny' && exit } as const;
    // From two places at once: only one of them counts.
    const places = this.random.chance(0.2) ? 2 : 1;
    await Promise.all(
      Array.from({ length: places }, () =>
        this.#send(ref, { type: 'approval.answer', approval, ...command }),
      ),
    );
  }

  /** From two places at once, and as a message, which may be no valid answer. */
  async #reply(ref: SessionRef, { question, questions }: OpenQuestion): Promise<void> {
    const { random } = this;
    if (!this.#stopped && random.chance(0.3)) return this.#say(ref, true);
    const places = random.chance(0.3) ? 2 : 1;
    await Promise.all(
      Array.from({ length: places }, () => {
        const given = random.chance(0.1)
          ? { declined: true }
          : { answers: Object.fromEntries(questions.map((asked) => [asked.id, [this.#chosen(asked)]])) };
        return this.#send(ref, { type: 'question.answer', question, ...given });
      }),
    );
  }

  #chosen({ options, freeText }: OpenQuestion['questions'][number]): string {
    return this.random.pick([...options.map(({ label }) => label), ...(freeText ? ['on'] : [])]);
  }

  /** Opens a sub-agent, as one who does not wait for its parent to show it. */
  async #visit(parent: SessionRef): Promise<void> {
    const { random } = this;
    const listed = await this.#call((node) =>
      node.engine.list(this.principal, { limit: 10, parent: parent.id }),
    );
    if (typeof listed !== 'object' || !('value' in listed) || listed.value.sessions.length === 0) return;
    const { ref } = random.pick(listed.value.sessions);
    const action = random.unit();
    if (action < 0.2) await this.#send(ref, { type: 'turn.cancel' });
    else if (action < 0.4) {
      this.#subAgents.push(ref);
      await this.#say(ref);
    } else await this.#answerAll(ref);
  }

  async #rewind(ref: SessionRef): Promise<void> {
    const { random } = this;
    const read = await this.#call((node) => node.engine.events(ref, 0, 10_000));
    if (typeof read !== 'object' || !('value' in read)) return;
    const rewinds = read.value.flatMap((event) => (event.type === 'rewind.started' ? [event.rewind] : []));
    const inputs = read.value.flatMap((event) => (event.type === 'input.accepted' ? [event.input] : []));
    // Most are refused because a turn is running.
    if (this.options.about === 'rewinds') await this.#send(ref, { type: 'turn.cancel' });
    const conversation = random.chance(0.6);
    const files = !conversation || random.chance(0.7);
    if (rewinds.length > 0 && random.chance(0.4))
      await this.#send(ref, { type: 'session.rewind', undo: random.pick(rewinds), conversation, files });
    else if (inputs.length > 0)
      await this.#send(ref, { type: 'session.rewind', to: random.pick(inputs), conversation, files });
  }

  #answerCall(ref: SessionRef, call: CallId): Promise<unknown> {
    return this.#send(ref, { type: 'call.answer', call, parts: [textPart(`answer to ${call}`)] });
  }

  /** What one node acknowledged, every node shows. */
  async #read(ref: SessionRef): Promise<void> {
    const known = this.#known.get(sessionKey(ref)) ?? 0;
    const seen = await this.#call((node) => node.engine.snapshot(ref));
    if (typeof seen !== 'object' || !('value' in seen)) return;
    const mayDiffer = this.options.erases > 0 || this.parts.mayForget() || this.parts.mayLag();
    if (seen.value.seq < known && !mayDiffer)
      this.parts.world.violate(
        `${ref.id}: a node shows event ${seen.value.seq} to ${this.name}, which knows of event ${known}`,
      );
    await this.#call((node) => node.engine.list(this.principal, { limit: 10 }));
    await this.#call((node) => node.engine.search(this.principal, { text: 'says', limit: 5 }));
  }

  #reconnect(): void {
    const node = this.#home();
    for (const watcher of this.watchers) watcher.connect(node);
  }

  /** Offers the browser tool for a while, answers some calls and then vanishes, also in the middle of one. */
  async #browse(): Promise<void> {
    const node = this.#home();
    if (!node) return;
    const connection = connectionId(`${this.name}-browser@${node.name}-${this.#sent++}`);
    const { world } = this.parts;
    node.clients.register({
      connection,
      owner: this.principal.id,
      offer: { tools: ['browser'], fallback: false },
      executionId: ({ id }) => id,
      request: (execution) => {
        if (this.random.chance(0.1)) return;
        const answer = this.random.chance(0.8)
          ? ({ ok: true, result: 'seen' } as const)
          : ({ ok: false, kind: 'busy', message: 'busy', recoverable: true, retryAfterMs: 100 } as const);
        world.after(
          this.random.latency(30),
          () => node.clients.answer(connection, execution, answer),
          node.process,
        );
      },
    });
    await this.process.sleep(this.random.latency(3_000));
    world.after(0, () => node.clients.unregister(connection), node.process);
  }
}

/** Whether open texts that were shown are not part of the conversation after the event. */
export const discards = ({ type }: SessionStreamEvent): boolean =>
  /^(turn|step|session)\.(ended|failed|cancelled|resumed|restarted|erased)$/.test(type);

/** A session as a chat window shows it. */
export class Watcher {
  view: SessionView = EMPTY;
  #cursor: Cursor;
  #stream: ClientStream | null = null;
  /** the text of each open block, joined from its pieces */
  readonly #texts = new Map<string, string>();

  constructor(
    private readonly client: Client,
    readonly ref: SessionRef,
  ) {
    this.#cursor = this.#begin();
  }

  #begin(): Cursor {
    return new Cursor(this.ref.id as SessionId, 0, () => this.client.process.clock.now());
  }

  get connected(): boolean {
    return this.#stream !== null;
  }

  disconnect(): void {
    this.#stream?.end();
    this.#stream = null;
  }

  connect(node: SimulatedNode | null): void {
    this.disconnect();
    if (!node) return;
    const { parts, name } = this.client;
    const stream = new ClientStream(this.client, node, (text) => this.#receive(text), `${name}-${node.name}`);
    this.#stream = stream;
    const gone = () => {
      if (this.#stream === stream) this.#stream = null;
      stream.end();
    };
    node.onEnded(gone);
    const after = this.#cursor.seq;
    parts.world.after(
      this.client.random.latency(LATENCY_MS),
      () => {
        this.#serve(stream, node, after).catch((thrown) => {
          if (!(thrown instanceof Fault))
            parts.world.violate(`${node.name}: stream of ${this.ref.id}: ${thrown}`);
          else gone();
        });
      },
      node.process,
    );
  }

  async #serve(stream: EventStream, { engine, hubs }: SimulatedNode, after: number): Promise<void> {
    const { ref } = this;
    const hub = hubs.get('native');
    if (!hub) throw new Error('no native dialect');
    const { seq: head } = await engine.snapshot(ref);
    const reset = after > head;
    await streamEvents(stream, { engine, hub, ref, after: reset ? 0 : after, reset });
  }

  #receive(text: string): void {
    const { world } = this.client.parts;
    const lines = new Map(
      text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    );
    const data = lines.get('data') ?? '{}';
    let events: SessionStreamEvent[] = [];
    try {
      events = this.#cursor.take({ event: lines.get('event') ?? '', data, id: lines.get('id') } as never);
    } catch (thrown) {
      // A session can be erased while its reader catches up: the SDK then connects again.
      if (this.client.options.erases > 0) this.disconnect();
      else world.violate(`${this.ref.id}: the stream of ${this.client.name} is out of order: ${thrown}`);
    }
    for (const event of events) this.#take(event);
  }

  #take(event: SessionStreamEvent): void {
    const { world } = this.client.parts;
    if (event.type === 'text.delta' || event.type === 'reasoning.delta') {
      const before = this.#texts.get(event.block) ?? '';
      if (before === '' && !/^(\[|Paused)/.test(event.text) && !this.client.parts.mayForget())
        world.violate(
          `${this.ref.id}: ${this.client.name} is shown a text without its beginning: ${event.text.slice(0, 40)}`,
        );
      this.#texts.set(event.block, before + event.text);
    }
    // The number of an event does not tell a session from one that was erased and created again.
    const isSame = this.client.options.erases === 0 && !this.client.parts.mayForget();
    if (event.type === 'step.ended' && this.#texts.size > 0 && isSame)
      world.violate(
        `${this.ref.id}: ${this.client.name} still shows "${[...this.#texts.values()].join()}" at the end of a step: it has neither ended nor been discarded`,
      );
    if (event.type === 'reset' || discards(event)) this.#texts.clear();
    // What the server no longer streams is discarded.
    if (event.type === 'snapshot')
      for (const block of this.#texts.keys()) if (block !== event.open?.block) this.#texts.delete(block);
    if (event.type === 'text.ended' || event.type === 'reasoning.ended') {
      const joined = this.#texts.get(event.block) ?? '';
      // Another node that interrupts a turn stores what it knows of the text, if it cannot ask the driver.
      if (joined !== event.text && !(event.interrupted && joined.startsWith(event.text)))
        world.violate(
          `${this.ref.id}: ${this.client.name} was shown "${joined.slice(-60)}" of the text "${event.text.slice(-60)}"`,
        );
      this.#texts.delete(event.block);
    }
    this.view = fold(this.view, event);
  }
}

const CAPACITY = 40;

/** The stream to one client: it is delivered with latency, and what does not fit into its buffer is dropped. */
class ClientStream implements EventStream {
  readonly id;
  open = true;
  #queue: { readonly text: string; readonly frame: object | undefined }[] = [];
  #pumping = false;
  #overflow = false;
  #lost = Promise.withResolvers<readonly (object | undefined)[] | null>();
  #ready: (() => void)[] = [];

  constructor(
    private readonly client: Client,
    private readonly node: SimulatedNode,
    private readonly receive: (text: string) => void,
    name: string,
  ) {
    this.id = connectionId(`${name}-${client.process.newId()}`);
  }

  send(text: string, frame?: object): boolean {
    if (!this.open || this.#overflow) return false;
    if (this.#queue.length >= CAPACITY) {
      this.#overflow = true;
      const dropped = [...this.#queue.map((one) => one.frame), frame];
      this.#queue = [];
      this.#lost.resolve(dropped);
      this.#lost = Promise.withResolvers();
      return false;
    }
    this.#queue.push({ text, frame });
    this.#pump();
    return true;
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    const { world } = this.client.parts;
    world.after(
      this.client.random.latency(1),
      () => {
        this.#pumping = false;
        const batch = this.#queue.splice(0, this.client.random.between(1, 12));
        for (const { text } of batch) if (this.open) this.receive(text);
        if (this.#queue.length > 0) this.#pump();
        else world.after(0, () => this.#isReady(), this.node.process);
      },
      this.client.process,
    );
  }

  #isReady(): void {
    this.#overflow = false;
    for (const resolve of this.#ready.splice(0)) resolve();
  }

  ready(): Promise<void> {
    if (this.#queue.length === 0 && !this.#overflow) return Promise.resolve();
    if (this.#overflow) this.#pump();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ready.push(resolve);
    return promise;
  }

  lost(): Promise<readonly (object | undefined)[] | null> {
    return this.#lost.promise;
  }

  onClosing(): void {
    // The server never closes it.
  }

  close(): void {
    this.end();
  }

  end(): void {
    if (!this.open) return;
    this.open = false;
    this.client.parts.world.after(
      0,
      () => {
        this.#lost.resolve(null);
        this.#isReady();
      },
      this.node.process,
    );
  }
}
