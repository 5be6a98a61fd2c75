/**
 * Threads: the server stores the conversation, and a request continues it from the last answer with only the
 * new messages. A thread is a session. It is found by the id of its last answer, and keeps the system prompt
 * and tools it was created with.
 */
import { CallerTool, type DurableEvent, type JsonObject } from '@parlance/protocol';
import { z } from 'zod';
import { labelKey, type SessionRecord, type SessionRef } from '../../core/index.ts';
import { type ChatRequest, RequestFault, type StartedTurn } from '../kit/chat-request.ts';
import type { DialectContext } from '../kit/dialect.ts';
import { earlierRequest } from '../kit/request-keys.ts';

/** The last answer of the thread. The session is also found by earlier ones. */
const MESSAGE = '@anthropic.message';
/** The answer that was last continued, and by which request. */
const CONTINUES = 'anthropic.continues';
/**
 * A request that has claimed a thread has started its turn within this time, unless its node has failed; in
 * milliseconds.
 */
const CLAIMED_MS = 10_000;
/** The number of the event with the setup of the thread. */
const CREATED = 'anthropic.thread';

/** The setup of a thread. */
const Setup = z.object({ system: z.string().optional(), tools: z.array(CallerTool).optional() });
export type Setup = z.output<typeof Setup>;

const Stored = z.object({ anthropic: Setup });

export const storedSetup = (setup: Setup): JsonObject => ({ anthropic: setup }) as JsonObject;

export type Thread = {
  readonly record: SessionRecord;
  readonly setup: Setup;
  /** Call it when the answer is complete or has failed. */
  release(): void;
};

type ErrorCode =
  | 'thread_not_found'
  | 'thread_already_continued'
  | 'thread_continue_in_flight'
  | 'thread_fingerprint_mismatch';

const refused = (apiCode: ErrorCode, message: string): RequestFault =>
  new RequestFault(apiCode === 'thread_not_found' ? 'not_found' : 'invalid', message, {
    param: 'thread.previous_message_id',
    apiCode,
  });

type StoredThread = { readonly id: string; readonly created: boolean };

export class Threads {
  /** the answers that are being continued on this node */
  readonly #continued = new Set<string>();

  constructor(private readonly ctx: Pick<DialectContext, 'engine' | 'newId' | 'now'>) {}

  /**
   * Claims the thread with that last answer for one request at a time, across nodes. Throws `RequestFault` if
   * it cannot be continued, or was created with a setup other than `given`.
   */
  async claim(chat: ChatRequest, previous: string, given: Setup): Promise<Thread> {
    const claim = `${chat.principal.id} ${previous}`;
    const record = await this.#find(chat, previous);
    const isAgain = (await earlierRequest(this.ctx.engine, record, chat)) !== null;
    if (!isAgain) await this.#check(record, previous);
    if (!isAgain && this.#continued.has(claim)) throw inFlight();
    this.#continued.add(claim);
    const release = () => void this.#continued.delete(claim);
    try {
      const setup = await this.#setup(record);
      checkSetup(setup, given);
      if (!isAgain) await this.#claimOverNodes(record, chat, previous);
      return { record, setup, release };
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  /** Lets the next request continue from this answer. `created`: the thread starts with it. */
  async keep(started: StartedTurn, chat: ChatRequest, { id, created }: StoredThread): Promise<void> {
    await this.#label(started, chat, {
      [MESSAGE]: id,
      ...(created && { [CREATED]: String(started.start.seq) }),
    });
  }

  async #find({ principal }: ChatRequest, previous: string): Promise<SessionRecord> {
    const { engine } = this.ctx;
    const ref = await engine.lookup(principal, labelKey(MESSAGE, previous), 'own');
    const record = ref && (await engine.record(ref));
    if (!record) throw refused('thread_not_found', 'There is no answer with this id.');
    return record;
  }

  async #label(
    { ref }: { readonly ref: SessionRef },
    { principal, dialect }: ChatRequest,
    labels: Record<string, string>,
  ): Promise<number> {
    const command = { type: 'session.label', labels } as const;
    const { events } = await this.ctx.engine.send(ref, command, { principal, dialect });
    return events.at(-1)?.seq ?? 0;
  }

  async #check({ ref, labels, status, head, updatedAt }: SessionRecord, previous: string): Promise<void> {
    if (labels[MESSAGE] !== previous)
      throw refused('thread_already_continued', 'This answer was continued already.');
    if (!claims(labels, previous)) return;
    // A request on another node may be in progress or about to start.
    if (status === 'running') throw inFlight();
    const [last] = await this.ctx.engine.events(ref, head - 1, 1);
    if (isClaim(last, previous) && this.ctx.now() - updatedAt < CLAIMED_MS) throw inFlight();
  }

  /** If requests on several nodes claim the same answer, the log tells which was first. */
  async #claimOverNodes(record: SessionRecord, chat: ChatRequest, previous: string): Promise<void> {
    const { ref, head } = record;
    const own = await this.#label(record, chat, { [CONTINUES]: `${previous} ${this.ctx.newId()}` });
    if (own === head + 1) return;
    const between = await this.ctx.engine.events(ref, head, own - head - 1);
    if (between.some((event) => isClaim(event, previous))) throw inFlight();
  }

  async #setup({ ref, labels }: SessionRecord): Promise<Setup> {
    const seq = Number(labels[CREATED]);
    const [event] = await this.ctx.engine.events(ref, seq - 1, 1);
    const data = event?.type === 'input.accepted' ? event.data : undefined;
    const stored = event?.type === 'tool.ended' ? event.attributes : data;
    return Stored.safeParse(stored).data?.anthropic ?? {};
  }
}

const claims = (labels: Readonly<Record<string, string>>, previous: string): boolean =>
  labels[CONTINUES]?.split(' ', 1)[0] === previous;

const isClaim = (event: DurableEvent | undefined, previous: string): boolean =>
  event?.type === 'session.labelled' && claims(event.labels, previous);

const inFlight = (): RequestFault =>
  refused('thread_continue_in_flight', 'Another request is continuing from this answer.');

/** Throws if the request has a setup that differs from that of the thread. */
function checkSetup(thread: Setup, given: Setup): void {
  const differs = (['system', 'tools'] as const).some(
    (field) => given[field] !== undefined && JSON.stringify(given[field]) !== JSON.stringify(thread[field]),
  );
  if (differs)
    throw refused('thread_fingerprint_mismatch', 'The thread was created with another `system` or `tools`.');
}
