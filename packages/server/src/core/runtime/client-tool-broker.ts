/**
 * Connected clients that run tools themselves: which tools each offers, and which client runs which call. A call is leased
 * to one client; only that client's first answer counts.
 */
import { type ConnectionId, Fault, type Json, type PrincipalId } from '@parlance/protocol';
import { sleep } from '../../lib/sleep.ts';
import type {
  ClientAnswer,
  ClientProgress,
  ClientRequest,
  ClientTools,
  ToolClient,
  ToolRun,
} from '../ports/client-tools.ts';

type Lease = {
  readonly client: ToolClient;
  readonly tool: string;
  readonly report: (progress: ClientProgress) => void;
  readonly settle: (answer: ClientAnswer | Fault) => void;
};

export type Dispatch = {
  readonly run: ToolRun;
  readonly owner: PrincipalId;
  /** the connection whose message started the turn */
  readonly prefer: ConnectionId | undefined;
  readonly request: ClientRequest;
  readonly signal: AbortSignal;
  /** `execution` is the id that the client was given: each attempt has its own */
  readonly report: (progress: ClientProgress, execution: string) => void;
};

/** A call is tried this often if the client asks for it. */
const MOST_ATTEMPTS = 3;
const MOST_RETRY_MS = 30_000;

export class ClientToolBroker implements ClientTools {
  readonly #clients = new Map<ConnectionId, ToolClient>();
  readonly #leases = new Map<string, Lease>();

  /** A client that registers again replaces its earlier registration. */
  register(client: ToolClient): void {
    this.#clients.set(client.connection, client);
  }

  /** The client has disconnected: its running calls fail. */
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
      if (!recoverable || retryAfterMs === undefined || attempt >= MOST_ATTEMPTS) {
        report({ status: 'failed', message });
        throw new Fault('tool_failed', `Tool execution failed [${kind}]: ${message}`);
      }
      report({ status: 'queued', message });
      await sleep(Math.min(retryAfterMs, MOST_RETRY_MS), job.signal);
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

  #candidates(owner: PrincipalId, tool: string): ToolClient[] {
    const own = [...this.#clients.values()].filter((client) => client.owner === owner);
    const offering = own.filter((client) => client.offers(tool) === 'yes');
    return offering.length > 0 ? offering : own.filter((client) => client.offers(tool) === 'fallback');
  }

  #choose({ owner, request, prefer }: Dispatch): ToolClient | undefined {
    const candidates = this.#candidates(owner, request.tool);
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
