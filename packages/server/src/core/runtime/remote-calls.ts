/** Runs calls of other nodes on clients of this node. */
import { asFault } from '@parlance/protocol';
import { sleep } from '../../lib/sleep.ts';
import { OutcomeUnknown } from '../ports/client-tools.ts';
import type { NodeId } from '../ports/lease.ts';
import type { Log } from '../ports/logger.ts';
import { NoAnswer, type Transport } from '../ports/transport.ts';
import type { ClientToolBroker } from './client-tool-broker.ts';
import {
  ANSWER,
  PROGRESS,
  REQUEST,
  type RequestedRun,
  type ToolAnswer,
  ToolRequest,
} from './remote-tool-messages.ts';

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
        await sleep(RETRY_MS, never);
      }
    }
    this.log.warn({ node: to, call: body.id }, 'failed to deliver tool result to node');
  }
}
