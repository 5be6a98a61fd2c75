/**
 * Tool clients of other nodes: which node each is connected to, and the calls that this node has sent to
 * them.
 */
import { asFault, ConnectionId, Fault, type Json, type PrincipalId } from '@parlance/protocol';
import type { ClientToolBroker } from '../core/engine/client-tools.ts';
import type { NodeId } from '../core/ports/lease.ts';
import type { Log } from '../core/ports/telemetry.ts';
import {
  OutcomeUnknown,
  type RemoteToolClient,
  type RemoteToolClients,
  type RemoteToolRun,
  type ToolClient,
} from '../core/ports/tool.ts';
import type { Clock } from '../lib/clock.ts';
import { sleep } from '../lib/sleep.ts';
import {
  ANSWER,
  Offer,
  PROGRESS,
  REQUEST,
  type RequestedRun,
  ToolAnswer,
  ToolProgress,
  ToolRequest,
} from './remote-messages.ts';
import { type Entry, type FollowedEntries, NoAnswer, type Transport } from './transport.ts';

type Call = Pick<RemoteToolRun, 'report'> & {
  readonly node: NodeId;
  readonly resolve: (result: Json) => void;
  readonly reject: (reason: Fault | OutcomeUnknown) => void;
};

const ACCEPT_MS = 1_000;
/** Longer than three attempts with pauses, which the client's own node enforces. */
const MAX_CALL_MS = 10 * 60_000;

const keyOf = (owner: PrincipalId): string => `c:${owner}`;

export class RemoteClients implements RemoteToolClients {
  readonly #followed = new Map<PrincipalId, { readonly entries: FollowedEntries; count: number }>();
  readonly #calls = new Map<string, Call>();

  constructor(
    private readonly transport: Transport,
    private readonly newId: () => string,
    private readonly clock: Clock,
  ) {
    transport.others.onChange(() => this.#dropLostCalls());
    transport.on(PROGRESS, (body, from) => this.#progress(ToolProgress.parse(body), from));
    transport.respond(ANSWER, (body, from) => this.#answer(ToolAnswer.parse(body), from));
  }

  announce({ owner, connection, offer }: Pick<ToolClient, 'connection' | 'owner' | 'offer'>): () => void {
    const value = { tools: offer.tools === 'all' ? 'all' : [...offer.tools], fallback: offer.fallback };
    return this.transport.registry.add(keyOf(owner), { id: connection, value });
  }

  of(owner: PrincipalId): readonly RemoteToolClient[] {
    if (!this.transport.up) return [];
    const entries = this.#followed.get(owner)?.entries.entries ?? [];
    return entries.flatMap((entry) => this.#clientOf(owner, entry) ?? []);
  }

  follow(owner: PrincipalId): { readonly ready: Promise<void>; close(): void } {
    const known = this.#followed.get(owner);
    const followed = known ?? { entries: this.transport.registry.follow([keyOf(owner)]), count: 0 };
    followed.count++;
    this.#followed.set(owner, followed);
    return {
      ready: followed.entries.ready,
      close: () => {
        if (--followed.count > 0) return;
        followed.entries.close();
        this.#followed.delete(owner);
      },
    };
  }

  #clientOf(owner: PrincipalId, { node, id, value }: Entry): RemoteToolClient | null {
    const offer = Offer.safeParse(value);
    const connection = ConnectionId.safeParse(id);
    if (!offer.success || !connection.success) return null;
    const client = { owner, node, connection: connection.data };
    return {
      connection: connection.data,
      offer: offer.data,
      run: (job) => this.#run(job, client),
    };
  }

  async #run(job: RemoteToolRun, client: ClientAt): Promise<Json> {
    const { signal, report } = job;
    const { node } = client;
    const id = this.newId();
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    this.#calls.set(id, { node, report, resolve, reject });
    const abort = () => {
      this.transport.send([node], { kind: REQUEST, body: { stop: id } });
      reject(new Fault('cancelled', 'aborted'));
    };
    const timer = this.clock.setTimeout(() => reject(noAnswer()), MAX_CALL_MS);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await Promise.race([this.#start(id, job, client), promise]);
      return await promise;
    } finally {
      this.clock.clear(timer);
      signal.removeEventListener('abort', abort);
      this.#calls.delete(id);
    }
  }

  /** Resolves when the other node has accepted the call. */
  async #start(
    id: string,
    { run, request }: RemoteToolRun,
    { owner, node, connection }: ClientAt,
  ): Promise<void> {
    const { tool, parameters, schema, permissions, timeoutMs, unavailable } = request;
    const asked = { tool, parameters, schema, permissions: [...permissions], timeoutMs, unavailable };
    const body = { id, owner, connection, run: { id: run.id, at: run.at }, request: asked };
    try {
      await this.transport.request(node, { kind: REQUEST, body }, ACCEPT_MS);
    } catch (thrown) {
      if (thrown instanceof NoAnswer && thrown.handled === 'unknown') throw noAnswer();
      throw new Fault('tool_failed', unavailable, { cause: thrown });
    }
  }

  #progress({ id, execution, progress }: ToolProgress, from: NodeId): void {
    const call = this.#calls.get(id);
    if (call?.node === from) call.report(progress, execution);
  }

  /** Accepts an answer without a waiting call, so that its sender does not retry. */
  #answer(answer: ToolAnswer, from: NodeId): null {
    const call = this.#calls.get(answer.id);
    if (call?.node !== from) return null;
    if ('result' in answer) call.resolve(answer.result);
    else if (answer.unknown) call.reject(new OutcomeUnknown(answer.fault.message));
    else call.reject(new Fault(answer.fault.code, answer.fault.message));
    return null;
  }

  #dropLostCalls(): void {
    for (const { node, reject } of this.#calls.values())
      if (!this.transport.others.nodes.includes(node)) reject(noAnswer());
  }
}

type ClientAt = { readonly owner: PrincipalId; readonly node: NodeId; readonly connection: ConnectionId };

const noAnswer = (): OutcomeUnknown =>
  new OutcomeUnknown('The server that the client is connected to does not respond.');

// Runs calls of other nodes on clients of this node.

const ANSWER_MS = 2_000;
const RETRY_MS = 500;
/** At least 30 seconds: by then another node drives the session, or none does. */
const MAX_ATTEMPTS = 60;
/** An answer is one bus message, whose size is limited. */
const MAX_RESULT_LENGTH = 4 * 1024 * 1024;

export class RemoteCalls {
  readonly #running = new Map<string, AbortController>();

  constructor(
    private readonly transport: Transport,
    private readonly broker: ClientToolBroker,
    private readonly log: Log,
    private readonly clock: Clock,
  ) {
    transport.on(REQUEST, (body, from) => this.#take(body, from));
    transport.respond(REQUEST, (body, from) => this.#take(body, from));
  }

  #take(body: unknown, from: NodeId): null {
    const run = ToolRequest.parse(body);
    if ('stop' in run) {
      this.#running.get(`${from} ${run.stop}`)?.abort();
      return null;
    }
    if (!this.broker.isConnected(run.connection, run.owner))
      throw new Error('the client is not connected to this node');
    void this.#serve(run, from);
    return null;
  }

  async #serve(run: RequestedRun, from: NodeId): Promise<void> {
    const { id } = run;
    const controller = new AbortController();
    this.#running.set(`${from} ${id}`, controller);
    const answer = await this.#outcome(run, controller.signal, from);
    this.#running.delete(`${from} ${id}`);
    if (!controller.signal.aborted) await this.#deliver(answer, from);
  }

  async #outcome(
    { id, owner, connection, run, request }: RequestedRun,
    signal: AbortSignal,
    from: NodeId,
  ): Promise<ToolAnswer> {
    try {
      const result = await this.broker.dispatchHere({
        run,
        owner,
        prefer: connection,
        request,
        signal,
        report: (progress, execution) =>
          this.transport.send([from], { kind: PROGRESS, body: { id, execution, progress: { ...progress } } }),
      });
      if (JSON.stringify(result).length <= MAX_RESULT_LENGTH) return { id, result };
      return { id, fault: { code: 'tool_failed', message: 'The result is too large.' } };
    } catch (thrown) {
      if (thrown instanceof OutcomeUnknown)
        return { id, fault: { code: 'tool_failed', message: thrown.message }, unknown: true };
      const { code, message } = asFault(thrown);
      return { id, fault: { code, message } };
    }
  }

  /** Retries until the other node has received it: the bus may be down briefly. */
  async #deliver(body: ToolAnswer, to: NodeId): Promise<void> {
    const never = new AbortController().signal;
    for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
      try {
        await this.transport.request(to, { kind: ANSWER, body }, ANSWER_MS);
        return;
      } catch (thrown) {
        if (!(thrown instanceof NoAnswer) || thrown.handled === 'refused') break;
        await sleep(RETRY_MS, never, this.clock);
      }
    }
    this.log.warn({ node: to, call: body.id }, 'failed to deliver tool result to node');
  }
}
