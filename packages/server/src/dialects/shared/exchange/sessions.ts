/** Finds or creates the session of a request, and applies the request to it. */
import { Fault, type HistoryItem } from '@parlance/protocol';
import { labelKey, type SessionRecord, type SessionRef } from '../../../core/api/index.ts';
import type { DialectContext } from '../dialect.ts';
import { KeyedQueue } from '../keyed-queue.ts';
import { continueSession, startSession } from './apply-request.ts';
import { conversationDigest } from './digest.ts';
import {
  type Accepted,
  invalidConversation,
  type Progress,
  partsOf,
  type Question,
  type StartedExchange,
} from './question.ts';
import { Reading } from './reading.ts';
import { RequestFault } from './request-fault.ts';
import { type EarlierRequest, earlierRequest, followTarget, KEY } from './request-keys.ts';

export type { Accepted, Progress, Question, StartedExchange } from './question.ts';

/** The digest of the conversation after the last answer in this session. */
const HISTORY = '@exchange.history';

type Target = {
  readonly ref: SessionRef;
  /** null if the session does not exist */
  readonly record: SessionRecord | null;
  readonly earlier: EarlierRequest | null;
  readonly history: string | null;
};

export class Sessions {
  readonly #queue = new KeyedQueue();

  constructor(private readonly ctx: Pick<DialectContext, 'engine' | 'log' | 'newId'>) {}

  /** Applies the request, and follows the answer. */
  begin(question: Question, progress: Progress): Promise<StartedExchange> {
    const { engine } = this.ctx;
    return this.#inOrder(question, progress, async (target) => {
      const { ref, earlier } = target;
      const reading = await Reading.open(engine, ref, { after: earlier?.after ?? 'now' });
      try {
        return { ...(await this.#accept(question, progress, target)), reading };
      } catch (thrown) {
        reading.stop();
        throw thrown;
      }
    });
  }

  /** Applies the request. The answer can be read from the first event that it caused. */
  accept(question: Question, progress: Progress): Promise<Accepted> {
    return this.#inOrder(question, progress, (target) => this.#accept(question, progress, target));
  }

  /**
   * Stores the digest of the conversation with this answer, so that the next request with that history
   * continues the session.
   */
  async remember(
    { ref, history }: Accepted,
    question: Question,
    answer: readonly HistoryItem[],
  ): Promise<void> {
    if (history === null) return;
    const { items, newFrom, principal, dialect } = question;
    const labels = { [HISTORY]: conversationDigest([...items.slice(newFrom), ...answer], history) };
    await this.ctx.engine.send(ref, { type: 'session.label', labels }, { principal, dialect });
  }

  /** Runs requests about the same conversation one after another. */
  #inOrder<Result>(
    question: Question,
    progress: Progress,
    work: (target: Target) => Promise<Result>,
  ): Promise<Result> {
    const { principal, session, key, items, newFrom, approvals = [] } = question;
    if (newFrom >= items.length && approvals.length === 0)
      throw invalidConversation(question, 'There is no new message of the user or a tool.');
    const history = conversationDigest(items.slice(0, newFrom));
    const about = session ?? key ?? (newFrom > 0 ? history : this.ctx.newId());
    return this.#queue.run(`${principal.id} ${about}`, async () => {
      const target = await this.#target(question, history);
      progress.session = target.ref.id;
      return work(target);
    });
  }

  async #target(question: Question, history: string): Promise<Target> {
    const { principal, session } = question;
    const { engine, newId } = this.ctx;
    const record = await this.#find(question, history);
    const earlier = record && (await earlierRequest(engine, record, question));
    const ref = record?.ref ?? (await engine.resolve(principal, session ?? newId()));
    // A request that names its session may have only a part of the history.
    const known = session === null || !record ? history : (record.labels[HISTORY] ?? null);
    return { ref, record, earlier, history: known };
  }

  async #find(question: Question, history: string): Promise<SessionRecord | null> {
    const { principal, session, key, newFrom, branches } = question;
    const { engine } = this.ctx;
    if (session !== null) return engine.record(await engine.resolve(principal, session));
    const labelled = async (name: typeof KEY | typeof HISTORY, value: string) => {
      const ref = await engine.lookup(principal, labelKey(name, value), 'own');
      return ref && engine.record(ref);
    };
    const byKey = key === null ? null : await labelled(KEY, key);
    if (byKey || newFrom === 0 || branches) return byKey;
    const byHistory = await labelled(HISTORY, history);
    const holds = byHistory?.labels[HISTORY] === history;
    return holds && byHistory.status !== 'running' && !byHistory.archived ? byHistory : null;
  }

  /** Before anything is stored. */
  async #checkLinks(question: Question, ref: SessionRef): Promise<void> {
    const input = { parts: partsOf(question), agent: question.agent };
    await this.ctx.engine.checkLinks(ref, input).catch((thrown: unknown) => {
      throw thrown instanceof Fault && thrown.code === 'invalid'
        ? invalidConversation(question, thrown.message)
        : thrown;
    });
  }

  async #accept(question: Question, progress: Progress, target: Target): Promise<Accepted> {
    const { ref, record, earlier, history } = target;
    if (earlier) {
      progress.accepted = true;
      return { ref, start: earlier.start, target: earlier.target, again: true, history };
    }
    await this.#checkLinks(question, ref);
    const context = { ...this.ctx, progress };
    const requestEvents = record
      ? await continueSession(context, record, question)
      : await startSession(context, ref, question);
    const [start] = requestEvents;
    if (!start) throw new RequestFault('invalid', 'The idempotency key was used before in this session.');
    return { ref, start, target: followTarget(requestEvents), again: false, history };
  }
}
