/**
 * Clients that can run tools themselves (a browser extension): who is connected, which tools each offers, and which
 * call is out at which client. A call is leased to one client; only that client's answer counts, and only the first.
 */
import { type ConnectionId, Fault, type Json, type PrincipalId } from '@parlance/protocol';

export type ClientRequest = {
  readonly tool: string;
  readonly parameters: { [key: string]: Json };
  /** JSON Schema of the parameters */
  readonly schema: { [key: string]: Json };
  readonly permissions: readonly string[];
  readonly timeoutMs: number;
};

export type ClientAnswer =
  | { readonly ok: true; readonly result: Json }
  | {
      readonly ok: false;
      readonly kind: string;
      readonly message: string;
      readonly recoverable: boolean;
      readonly retryAfterMs?: number;
    };

export type ClientProgress = {
  readonly status: 'queued' | 'executing' | 'completed' | 'failed' | 'timeout';
  readonly progress?: number;
  readonly message?: string;
};

/** One connected client, as the dialect registers it. */
export interface ToolClient {
  readonly connection: ConnectionId;
  readonly owner: PrincipalId;
  readonly capabilities: readonly string[];
  /** Puts the request on the wire. The answer comes back through `ClientToolBroker.answer`. */
  request(execution: string, request: ClientRequest): void;
}

type Lease = {
  readonly client: ToolClient;
  readonly tool: string;
  readonly report: (progress: ClientProgress) => void;
  readonly settle: (answer: ClientAnswer | Fault) => void;
};

export type Dispatch = {
  readonly execution: string;
  readonly owner: PrincipalId;
  /** the socket whose message began the turn */
  readonly prefer: ConnectionId | undefined;
  readonly request: ClientRequest;
  readonly signal: AbortSignal;
  /** `execution` is the one that the client was given: a call that is tried again has another */
  readonly report: (progress: ClientProgress, execution: string) => void;
};

export class ClientToolBroker {
  readonly #clients = new Map<ConnectionId, ToolClient>();
  readonly #leases = new Map<string, Lease>();

  /** A client that registers again replaces what it said before. */
  register(client: ToolClient): void {
    this.#clients.set(client.connection, client);
  }

  /** The client is gone: what was out at it fails. */
  unregister(connection: ConnectionId): void {
    this.#clients.delete(connection);
    for (const lease of this.#leases.values()) {
      if (lease.client.connection !== connection) continue;
      const message = `Client disconnected during tool execution: ${lease.tool}`;
      lease.report({ status: 'failed', message });
      lease.settle(new Fault('tool_failed', message));
    }
  }

  offers(owner: PrincipalId, tool: string): boolean {
    return this.#candidates(owner, tool).length > 0;
  }

  /** Runs one call at one client: the one that `prefer` names if it offers the tool, else the least busy. */
  async dispatch(job: Dispatch): Promise<Json> {
    const { request } = job;
    for (let attempt = 1; ; attempt++) {
      const client = this.#choose(job.owner, request.tool, job.prefer);
      if (!client) {
        throw new Fault('tool_failed', `No browser extension client available for tool: ${request.tool}`);
      }
      const execution = attempt === 1 ? job.execution : `${job.execution}_${attempt}`;
      const report = (progress: ClientProgress) => job.report(progress, execution);
      const answer = await this.#lease(job, client, execution, report);
      if (answer.ok) {
        report({ status: 'completed', progress: 100 });
        return answer.result;
      }
      const again = answer.recoverable && answer.retryAfterMs !== undefined && attempt < 3;
      if (!again) {
        report({ status: 'failed', message: answer.message });
        throw new Fault('tool_failed', `Tool execution failed [${answer.kind}]: ${answer.message}`);
      }
      report({ status: 'queued', message: answer.message });
      await pause(Math.min(answer.retryAfterMs ?? 0, 30_000), job.signal);
    }
  }

  /** False where the execution is unknown, finished, or leased to another client: nothing changed. */
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

  #candidates(owner: PrincipalId, tool: string): ToolClient[] {
    const own = [...this.#clients.values()].filter((client) => client.owner === owner);
    const named = own.filter((c) => c.capabilities.includes(tool) || c.capabilities.includes('all_tools'));
    return named.length > 0 ? named : own.filter((c) => c.capabilities.includes('browser_api_access'));
  }

  #choose(owner: PrincipalId, tool: string, prefer: ConnectionId | undefined): ToolClient | undefined {
    const candidates = this.#candidates(owner, tool);
    const busy = ({ connection }: ToolClient) =>
      [...this.#leases.values()].filter((lease) => lease.client.connection === connection).length;
    return (
      candidates.find((client) => client.connection === prefer) ??
      candidates.sort((a, b) => busy(a) - busy(b))[0]
    );
  }

  #lease(
    job: Dispatch,
    client: ToolClient,
    execution: string,
    report: (progress: ClientProgress) => void,
  ): Promise<ClientAnswer> {
    const { request, signal } = job;
    if (signal.aborted) throw new Fault('cancelled', 'aborted');
    const { promise, resolve, reject } = Promise.withResolvers<ClientAnswer>();
    const settle = (answer: ClientAnswer | Fault) =>
      answer instanceof Fault ? reject(answer) : resolve(answer);
    const timer = setTimeout(() => {
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
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      this.#leases.delete(execution);
    });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const abort = () => reject(new Fault('cancelled', 'aborted'));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  });
}
