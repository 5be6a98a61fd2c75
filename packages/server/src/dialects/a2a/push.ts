/**
 * Push notifications: where clients want updates of a task sent, and the sending. What is left to send is in the store, and what is
 * sent is made from the log, so that a restart loses none; an update whose receipt could not be recorded is sent again. While a turn
 * goes on, one node follows it for each of its addresses.
 *
 * Not sent: pieces of the answer. When a task has ended or waits for input, its artifacts are sent as they are then.
 */
import type { IncomingMessage } from 'node:http';
import { Fault, isDurable, type JsonObject, type Principal, type TurnId } from '@parlance/protocol';
import { z } from 'zod';
import {
  requirePermission,
  type SessionRef,
  sessionKey,
  type Webhook,
  type WebhookProgress,
} from '../../core/index.ts';
import { checkedAddresses, hostOf, pinned } from '../../lib/checked-addresses.ts';
import { type ClockTimer, SYSTEM_CLOCK } from '../../lib/clock.ts';
import { sleep } from '../../lib/sleep.ts';
import { isPublicAddress } from '../../lib/special-ranges.ts';
import { type DialectContext, reported } from '../kit/dialect.ts';
import { invalidParams } from '../kit/json-rpc.ts';
import {
  hasEnded,
  isInterrupted,
  type PushConfig,
  PushTarget,
  type StreamResponse,
  type TaskPushConfig,
  taskIdOf,
} from './contract.ts';
import { START, step, taskObject } from './outbound.ts';
import { legacyTask } from './v03.ts';

export const Settings = z.object({ pushNotifications: z.enum(['off', 'public', 'any']) });
export type Settings = z.output<typeof Settings>;

/** The form in which updates are sent is the version with which the client has asked for them. */
export type Version = '1.0' | '0.3';

const Target = PushTarget.extend({ version: z.enum(['1.0', '0.3']) });
type Target = z.output<typeof Target>;

const MAX_OF_TASK = 10;
/** of one user, with something left to send */
const MAX_OF_OWNER = 1_000;
/** that one node follows at once; others wait */
const MAX_FOLLOWED = 500;

/** How long the receiver may take to answer. */
const ANSWER_MS = 15_000;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 10 * 60_000;
/** After that many failures in a row, which is after three hours, nothing more is sent. */
const MAX_FAILURES = 26;
/** How often a node looks for what another one has left, and tries to store what could not be stored. */
const OTHER_NODES_MS = 10_000;
const MAX_SLEEP_MS = 60 * 60_000;

const PAGE = 100;

type ClaimedWebhook = Webhook & WebhookProgress;

type Parts = Pick<DialectContext, 'administration' | 'engine' | 'log' | 'now' | 'webhooks'>;

export class PushNotifications {
  /** those that this node follows */
  readonly #followed = new Map<string, AbortController>();
  #timer: ClockTimer | null = null;
  #sweep: Promise<void> | null = null;
  #isAsked = false;
  #isClosed = false;

  constructor(
    private readonly parts: Parts,
    private readonly mayBePrivate: boolean,
  ) {}

  // Configurations.

  /** `after`: the number of the last event that is not sent. */
  async add(
    principal: Principal,
    {
      ref,
      turn,
      config,
      version,
      after,
    }: {
      readonly ref: SessionRef;
      readonly turn: TurnId;
      readonly config: PushConfig;
      readonly version: Version;
      readonly after: number;
    },
  ): Promise<TaskPushConfig> {
    requirePermission(principal, 'chat:send');
    const { id = turn, ...fields } = config;
    this.#checkHost(fields.url);
    const target = JSON.parse(JSON.stringify({ ...fields, version })) as JsonObject;
    const { webhooks, now } = this.parts;
    const known = await webhooks.find(ref, turn, id);
    // A repeated request: what has been sent is not sent again.
    if (known && Bun.deepEquals(known.target, target)) return shown(known);
    const createdAt = Math.max(now(), (known?.createdAt ?? 0) + 1);
    const webhook = { ref, turn, id, target, createdAt };
    const progress = { sent: after, failures: 0, due: now() };
    const stored = await webhooks.put(
      { ...webhook, ...progress },
      { turn: MAX_OF_TASK, owner: MAX_OF_OWNER },
    );
    if (stored === 'no_session') throw noConfig();
    if (stored === 'too_many')
      throw new Fault('limited', 'There are too many push notification configurations.');
    this.#stop(webhook);
    this.wake();
    return shown(webhook);
  }

  async find(ref: SessionRef, turn: TurnId, id: string): Promise<TaskPushConfig> {
    const found = await this.parts.webhooks.find(ref, turn, id);
    if (!found || !Target.safeParse(found.target).success) throw noConfig();
    return shown(found);
  }

  async list(ref: SessionRef, turn: TurnId): Promise<TaskPushConfig[]> {
    const found = await this.parts.webhooks.list(ref, turn);
    return found.filter(({ target }) => Target.safeParse(target).success).map(shown);
  }

  async remove(principal: Principal, ref: SessionRef, turn: TurnId, id: string): Promise<void> {
    requirePermission(principal, 'chat:send');
    await this.parts.webhooks.remove(ref, turn, id);
    this.#stop({ ref, turn, id });
  }

  /** Refuses what can be refused without a name server; the addresses of a name are checked before each request. */
  #checkHost(url: string): void {
    const host = hostOf(new URL(url));
    const isName = /[a-z]/i.test(host) && !host.includes(':');
    const isLocal = isName ? /^(?:.+\.)?localhost\.?$/i.test(host) : !isPublicAddress(host);
    if (isLocal && !this.mayBePrivate) throw invalidParams('url: must not be in a private network');
  }

  // Following. What is due is taken by this node, one by one of its tasks.

  /** Takes what a former process of this node has left as well. */
  start(): Promise<void> {
    return this.#run(true);
  }

  wake(): void {
    void this.#run(false);
  }

  close(): void {
    this.#isClosed = true;
    SYSTEM_CLOCK.clear(this.#timer);
    for (const followed of this.#followed.values()) followed.abort();
  }

  #run(isFirst: boolean): Promise<void> {
    this.#isAsked = true;
    this.#sweep ??= this.#takeAll(isFirst).finally(() => {
      this.#sweep = null;
    });
    return this.#sweep;
  }

  async #takeAll(isFirst: boolean): Promise<void> {
    SYSTEM_CLOCK.clear(this.#timer);
    let pause = OTHER_NODES_MS;
    try {
      while (this.#isAsked && !this.#isClosed) {
        this.#isAsked = false;
        pause = await this.#take(isFirst);
      }
    } catch (thrown) {
      this.parts.log.error({ err: thrown }, 'failed to look for push notifications');
    }
    if (!this.#isClosed) this.#timer = SYSTEM_CLOCK.setTimeout(() => this.wake(), pause);
  }

  /** Returns how long nothing else is due. */
  async #take(isFirst: boolean): Promise<number> {
    const { administration, webhooks, now } = this.parts;
    const nodes = await administration.nodes();
    const here = nodes.find((node) => node.here);
    const limit = MAX_FOLLOWED - this.#followed.size;
    if (!here || limit <= 0) return OTHER_NODES_MS;
    const alive = nodes.filter((node) => node.alive && !(isFirst && node.here)).map(({ id }) => id);
    for (const webhook of await webhooks.take(here.id, { alive, now: now(), limit }))
      this.#begin(here.id, webhook);
    const due = await webhooks.nextDue();
    const next = due === null ? MAX_SLEEP_MS : Math.max(0, due - now());
    return Math.min(next, here.leaseAge === null ? MAX_SLEEP_MS : OTHER_NODES_MS);
  }

  #stop(webhook: Pick<Webhook, 'id' | 'ref' | 'turn'>): void {
    this.#followed.get(keyOf(webhook))?.abort();
  }

  #begin(node: string, webhook: ClaimedWebhook): void {
    const key = keyOf(webhook);
    const followed = new AbortController();
    this.#followed.get(key)?.abort();
    this.#followed.set(key, followed);
    void this.#send(node, webhook, followed.signal).finally(() => {
      if (this.#followed.get(key) === followed) this.#followed.delete(key);
      if (!this.#isClosed) this.wake();
    });
  }

  /** Begins again while the progress cannot be stored. */
  async #send(node: string, webhook: ClaimedWebhook, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        const { parts, mayBePrivate } = this;
        return await new Sending(parts, { node, webhook, mayBePrivate }).run(signal);
      } catch (thrown) {
        if (signal.aborted) return;
        reported(thrown, this.parts, { session: webhook.ref.id });
        await sleep(OTHER_NODES_MS, signal);
      }
    }
  }
}

const keyOf = ({ ref, turn, id }: Pick<Webhook, 'id' | 'ref' | 'turn'>): string =>
  JSON.stringify([sessionKey(ref), turn, id]);

const noConfig = (): Fault => new Fault('not_found', 'There is no such push notification configuration.');

/** Credentials are not shown again. */
function shown({ id, turn, target }: Webhook): TaskPushConfig {
  const { url, token, authentication } = Target.parse(target);
  return {
    id,
    taskId: turn,
    url,
    ...(token !== undefined && { token }),
    ...(authentication && { authentication: { scheme: authentication.scheme } }),
  };
}

// Sends the updates of one task to one address, one after another.

type SendingParts = {
  readonly node: string;
  readonly webhook: ClaimedWebhook;
  readonly mayBePrivate: boolean;
};

class Sending {
  #progress: WebhookProgress;

  constructor(
    private readonly server: Parts,
    private readonly parts: SendingParts,
  ) {
    const { sent, failures, due } = parts.webhook;
    this.#progress = { sent, failures, due };
  }

  /** Resolves when nothing is left to send, when it is to be tried again later, or when the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, now } = this.server;
    const { webhook } = this.parts;
    try {
      await this.#follow(signal);
    } catch (thrown) {
      if (signal.aborted) return void (await this.#update({}, true));
      const failures = this.#progress.failures + 1;
      const isOver = thrown instanceof Gone || failures >= MAX_FAILURES;
      const wait = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
      const about = { session: webhook.ref.id, turn: webhook.turn, failures, err: thrown };
      if (isOver) log.warn(about, 'push notifications given up');
      else log.debug(about, 'push notification failed');
      await this.#update({ failures, due: isOver ? null : now() + wait }, true);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { engine } = this.server;
    const { ref, turn: id, target: stored } = this.parts.webhook;
    const target = Target.safeParse(stored);
    const turn = await engine.turn(ref, id);
    if (!target.success || !turn) return void (await this.#update({ due: null }));
    let changed = Promise.withResolvers<void>();
    const stop = () => changed.resolve();
    signal.addEventListener('abort', stop);
    const watch = await engine.watch(ref, (event) => {
      if (isDurable(event) || event.type === 'session.erased') changed.resolve();
    });
    try {
      let state = START;
      for (let seq = turn.first - 1; ; ) {
        signal.throwIfAborted();
        const next = changed;
        const events = await engine.events(ref, seq, PAGE);
        for (const event of events) {
          seq = event.seq;
          const [after, frames] = step(state, event);
          state = after;
          const task = state.tasks.get(id);
          if (!task) continue;
          const updates = frames.map(({ body }) => body).filter((body) => taskIdOf(body) === id);
          const bodies = seq > this.#progress.sent ? notifications(target.data.version, updates, task) : [];
          for (const body of bodies) if (!(await this.#send(target.data, body, signal))) return;
          const due = hasEnded(task.status.state) ? null : this.#progress.due;
          if (bodies.length > 0 || due === null)
            if (!(await this.#update({ sent: seq, failures: 0, due })) || due === null) return;
        }
        if (events.length > 0) continue;
        if (!(await engine.record(ref))) return;
        await next.promise;
        changed = Promise.withResolvers();
      }
    } finally {
      signal.removeEventListener('abort', stop);
      watch.stop();
    }
  }

  /** False if the configuration has been deleted or replaced. */
  async #send(target: Target, body: object, signal: AbortSignal): Promise<boolean> {
    const { webhook, mayBePrivate } = this.parts;
    const known = await this.server.webhooks.find(webhook.ref, webhook.turn, webhook.id);
    if (known?.createdAt !== webhook.createdAt) return false;
    await post(target, body, { mayBePrivate, signal });
    return true;
  }

  /** False if the configuration has been deleted or replaced. */
  #update(changes: Partial<WebhookProgress>, release?: true): Promise<boolean> {
    this.#progress = { ...this.#progress, ...changes };
    const { node, webhook } = this.parts;
    return this.server.webhooks.update(node, webhook, { ...this.#progress, ...(release && { release }) });
  }
}

/** The bodies of the requests for updates that follow one event. Sent twice, they have the same effect. */
function notifications(
  version: Version,
  updates: readonly StreamResponse[],
  progress: Parameters<typeof taskObject>[0],
): object[] {
  const task = taskObject(progress);
  const about = { taskId: task.id, contextId: task.contextId };
  return updates.flatMap((update): object[] => {
    if ('artifactUpdate' in update) return [];
    if (version === '0.3') return [legacyTask(task)];
    if ('task' in update || !isInterrupted(update.statusUpdate.status.state)) return [update];
    const artifacts = (task.artifacts ?? []).map((artifact) => ({
      artifactUpdate: { ...about, artifact, append: false, lastChunk: true },
    }));
    return [...artifacts, update];
  });
}

/** The receiver wants no more notifications. */
class Gone extends Error {}

/** Resolves when the receiver has accepted the body. Redirects are not followed. */
async function post(
  { url: address, token, authentication, version }: Target,
  body: object,
  { mayBePrivate, signal }: { readonly mayBePrivate: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const url = new URL(address);
  const limited = AbortSignal.any([signal, SYSTEM_CLOCK.timeout(ANSWER_MS)]);
  const addresses = await checkedAddresses(url, { allow: () => mayBePrivate }, limited);
  // Loaded on demand: most servers send none.
  const { request } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const text = JSON.stringify(body);
  const headers = {
    'content-type': version === '1.0' ? 'application/a2a+json' : 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    'user-agent': 'Parlance/0.1 (A2A push notifications)',
    ...(token !== undefined && { 'x-a2a-notification-token': token }),
    ...(authentication?.credentials !== undefined && {
      authorization: `${authentication.scheme} ${authentication.credentials}`,
    }),
  };
  request(url, { method: 'POST', agent: false, headers, lookup: pinned(addresses), signal: limited }, resolve)
    .on('error', reject)
    .end(text);
  const answer = await promise;
  const { statusCode: status = 0 } = answer;
  answer.destroy();
  if (status === 410) throw new Gone('the receiver is gone');
  if (status < 200 || status > 299) throw new Error(`the receiver answered with status ${status}`);
}
