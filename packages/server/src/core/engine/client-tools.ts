/**
 * Connected clients that run tools themselves: which tools each offers, and which client runs which call. A call is leased
 * to one client; only that client's first answer counts.
 */

import { type ConnectionId, Fault, type Json, type PrincipalId } from '@parlance/protocol';
import { type Clock, SYSTEM_CLOCK } from '../../lib/clock.ts';
import { sleep } from '../../lib/sleep.ts';
import { type SessionRef, sessionKey } from '../ports/session-ref.ts';
import {
  type CallPeer,
  type ClientAnswer,
  type ClientProgress,
  type ClientTools,
  isOffered,
  OutcomeUnknown,
  type RemoteToolClient,
  type RemoteToolClients,
  type RemoteToolRun,
  type ToolClient,
  type ToolOffer,
} from '../ports/tool.ts';

type Lease = {
  readonly client: ToolClient;
  readonly tool: string;
  readonly report: (progress: ClientProgress) => void;
  readonly settle: (answer: ClientAnswer | Fault | OutcomeUnknown) => void;
};

/** `execution` of a report is the id that the client received; each attempt has its own. */
export type Dispatch = RemoteToolRun & {
  readonly owner: PrincipalId;
  /** the connection whose message started the turn */
  readonly prefer: ConnectionId | undefined;
};

/** Maximum number of attempts if the client asks for a retry. */
const MAX_ATTEMPTS = 3;
const MAX_RETRY_MS = 30_000;

export class ClientToolBroker implements ClientTools {
  readonly #clients = new Map<ConnectionId, ToolClient>();
  readonly #leases = new Map<string, Lease>();

  readonly #peers = new Map<string, CallPeer>();
  readonly #announcements = new Map<ConnectionId, () => void>();
  #remote: RemoteToolClients | null = null;

  constructor(private readonly clock: Clock = SYSTEM_CLOCK) {}

  /** Includes the clients of other nodes from now on. */
  attach(remote: RemoteToolClients): void {
    this.#remote = remote;
    for (const client of this.#clients.values()) this.#announce(client);
  }

  /** Lets direct calls in the session talk to the client that made them. Returns a function that removes it. */
  addPeer(ref: SessionRef, peer: CallPeer): () => void {
    const key = sessionKey(ref);
    this.#peers.set(key, peer);
    return () => {
      if (this.#peers.get(key) === peer) this.#peers.delete(key);
    };
  }

  peerOf(ref: SessionRef): CallPeer | null {
    return this.#peers.get(sessionKey(ref)) ?? null;
  }

  /** Registering again replaces the earlier registration. */
  register(client: ToolClient): void {
    this.#clients.set(client.connection, client);
    this.#announce(client);
  }

  /**
   * Call after the client disconnects. Its running calls may have been executed, so their outcome is unknown.
   */
  unregister(connection: ConnectionId): void {
    this.#clients.delete(connection);
    this.#announcements.get(connection)?.();
    this.#announcements.delete(connection);
    for (const lease of this.#leases.values()) {
      if (lease.client.connection !== connection) continue;
      const message = `Client disconnected during tool execution: ${lease.tool}`;
      lease.report({ status: 'failed', message });
      lease.settle(new OutcomeUnknown(`${message}.`));
    }
  }

  /** While `work` runs, `offers` and `dispatch` include the owner's clients on other nodes. */
  async following<Result>(owner: PrincipalId, work: () => Promise<Result>): Promise<Result> {
    if (!this.#remote) return work();
    const followed = this.#remote.follow(owner);
    try {
      await followed.ready;
      return await work();
    } finally {
      followed.close();
    }
  }

  isConnected(connection: ConnectionId, owner: PrincipalId): boolean {
    return this.#clients.get(connection)?.owner === owner;
  }

  offers(owner: PrincipalId, tool: string): boolean {
    const mayRun = ({ offer }: { readonly offer: ToolOffer }) => offer.fallback || isOffered(offer, tool);
    return this.#own(owner).some(mayRun) || this.#elsewhere(owner).some(mayRun);
  }

  /**
   * Runs a call on one client: the one named by `prefer` if it offers the tool, else the least busy one on this node, else
   * one on another node.
   */
  async dispatch(job: Dispatch): Promise<Json> {
    if (job.signal.aborted) throw new Fault('cancelled', 'aborted');
    const remote = this.#chooseElsewhere(job);
    return remote ? remote.run(job) : this.dispatchHere(job);
  }

  /**
   * Runs a call on a client of this node. Rejects with a fault, or with `OutcomeUnknown` if it may have run.
   */
  async dispatchHere(job: Dispatch): Promise<Json> {
    const { request } = job;
    let first: string | undefined;
    for (let attempt = 1; ; attempt++) {
      if (job.signal.aborted) throw new Fault('cancelled', 'aborted');
      const client = this.#choose(job);
      if (!client) throw new Fault('tool_failed', request.unavailable);
      first ??= client.executionId(job.run);
      const execution = attempt === 1 ? first : `${first}_${attempt}`;
      const report = (progress: ClientProgress) => job.report(progress, execution);
      const answer = await this.#lease({ ...job, report }, client, execution);
      if (answer.ok) {
        report({ status: 'completed', progress: 100 });
        return answer.result;
      }
      const { recoverable, retryAfterMs, kind, message } = answer;
      if (!recoverable || retryAfterMs === undefined || attempt >= MAX_ATTEMPTS) {
        report({ status: 'failed', message });
        throw new Fault('tool_failed', `Tool execution failed [${kind}]: ${message}`);
      }
      report({ status: 'queued', message });
      await sleep(Math.min(retryAfterMs, MAX_RETRY_MS), job.signal, this.clock);
    }
  }

  /** False if the execution is unknown, finished or leased to another client. */
  answer(connection: ConnectionId, execution: string, answer: ClientAnswer): boolean {
    const lease = this.#leases.get(execution);
    if (lease?.client.connection !== connection) return false;
    lease.settle(answer);
    return true;
  }

  progress(connection: ConnectionId, execution: string, progress: ClientProgress): boolean {
    const lease = this.#leases.get(execution);
    if (lease?.client.connection !== connection) return false;
    lease.report(progress);
    return true;
  }

  #announce(client: ToolClient): void {
    if (!this.#remote) return;
    const earlier = this.#announcements.get(client.connection);
    this.#announcements.set(client.connection, this.#remote.announce(client));
    earlier?.();
  }

  #own(owner: PrincipalId): ToolClient[] {
    return [...this.#clients.values()].filter((client) => client.owner === owner);
  }

  #elsewhere(owner: PrincipalId): readonly RemoteToolClient[] {
    return this.#remote?.of(owner) ?? [];
  }

  /** Undefined if a client of this node should execute the call. */
  #chooseElsewhere({ owner, request, prefer }: Dispatch): RemoteToolClient | undefined {
    const candidates = offering(this.#elsewhere(owner), request.tool);
    const preferred = candidates.find(({ connection }) => connection === prefer);
    if (preferred) return preferred;
    const own = this.#own(owner);
    if (own.some(({ offer }) => isOffered(offer, request.tool))) return undefined;
    const named = candidates.find(({ offer }) => isOffered(offer, request.tool));
    return named ?? (own.some(({ offer }) => offer.fallback) ? undefined : candidates[0]);
  }

  #choose({ owner, request, prefer }: Dispatch): ToolClient | undefined {
    const candidates = offering(this.#own(owner), request.tool);
    const busy = ({ connection }: ToolClient) =>
      [...this.#leases.values()].filter((lease) => lease.client.connection === connection).length;
    return (
      candidates.find((client) => client.connection === prefer) ??
      candidates.sort((a, b) => busy(a) - busy(b))[0]
    );
  }

  #lease(
    { request, signal, report }: Pick<Dispatch, 'request' | 'signal'> & Pick<Lease, 'report'>,
    client: ToolClient,
    execution: string,
  ): Promise<ClientAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<ClientAnswer>();
    const settle = (answer: ClientAnswer | Fault | OutcomeUnknown) =>
      answer instanceof Error ? reject(answer) : resolve(answer);
    const timer = this.clock.setTimeout(() => {
      report({ status: 'timeout' });
      settle(new Fault('tool_failed', `Tool execution timeout: ${request.tool}`));
    }, request.timeoutMs);
    const abort = () => {
      report({ status: 'failed', message: 'aborted' });
      settle(new Fault('cancelled', 'aborted'));
    };
    signal.addEventListener('abort', abort, { once: true });
    this.#leases.set(execution, { client, tool: request.tool, report, settle });
    report({ status: 'queued' });
    try {
      client.request(execution, request);
      report({ status: 'executing' });
    } catch (thrown) {
      reject(thrown);
    }
    return promise.finally(() => {
      this.clock.clear(timer);
      signal.removeEventListener('abort', abort);
      this.#leases.delete(execution);
    });
  }
}

/** The clients that name the tool, or else the fallback clients. */
function offering<Client extends { readonly offer: ToolOffer }>(
  clients: readonly Client[],
  tool: string,
): Client[] {
  const named = clients.filter(({ offer }) => isOffered(offer, tool));
  return named.length > 0 ? named : clients.filter(({ offer }) => offer.fallback);
}
