/**
 * Tool clients of other nodes: which node each is connected to, and the calls that this node has sent to
 * them.
 */
import { ConnectionId, Fault, type Json, type PrincipalId } from '@parlance/protocol';
import {
  OutcomeUnknown,
  type RemoteToolClient,
  type RemoteToolClients,
  type RemoteToolRun,
  type ToolClient,
} from '../ports/client-tools.ts';
import type { NodeId } from '../ports/lease.ts';
import { type Entry, type FollowedEntries, NoAnswer, type Transport } from '../ports/transport.ts';
import { ANSWER, Offer, PROGRESS, REQUEST, ToolAnswer, ToolProgress } from './remote-tool-messages.ts';

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
    const timer = setTimeout(() => reject(noAnswer()), MAX_CALL_MS);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await Promise.race([this.#start(id, job, client), promise]);
      return await promise;
    } finally {
      clearTimeout(timer);
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
